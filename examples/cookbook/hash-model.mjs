// node hash-model.mjs MODEL: a fingerprint of the weights that does not depend on the container.
import { hash } from 'tare/node'

const { fingerprint, tensors } = await hash(process.argv[2])
console.log(fingerprint, tensors.length)
