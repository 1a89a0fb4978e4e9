import { parseQueue } from '../../kit-node.js'

/** The address of a queue without what is secret in it. */
export const queueName = (address: string): string =>
  /^(nats|tls):/i.test(address) && URL.canParse(address.replace(/^\w+:/, 'http:')) ? parseQueue(address).name : 'queue'
