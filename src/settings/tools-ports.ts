const PORTS = 3

/**
 * The ports after the server's own, at which `gatepass tools dev` serves tools. In development Gatepass may send
 * requests there.
 */
export function toolsPorts(port: number): readonly number[] {
  return Array.from({ length: PORTS }, (_, i) => port + 1 + i).filter((one) => one <= 65_535)
}
