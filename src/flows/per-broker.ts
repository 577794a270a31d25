import type { Broker } from '../broker.ts'

/** Makes one value for each broker, when it is first needed: state of an operation that belongs to the process. */
export function perBroker<Value>(make: (broker: Broker) => Value): (broker: Broker) => Value {
  const values = new WeakMap<Broker, Value>()
  return (broker) => {
    const known = values.get(broker)
    if (known !== undefined) return known
    const value = make(broker)
    values.set(broker, value)
    return value
  }
}
