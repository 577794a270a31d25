const PORTS = 3

/**
 * The ports at which `gatepass tools dev` serves tools: those after the server's own. In development Gatepass may send
 * requests to them.
 */
export function toolsPorts(port: number): readonly number[] {
  return Array.from({ length: PORTS }, (_, i) => port + 1 + i).filter((candidate) => candidate <= 65_535)
}
