import type { Tensor } from './tensor.js'

export class PackedTensors extends Array<Tensor> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override push(tensor: Tensor, ..._more: unknown[]): number {
    this[this.length] = tensor
    return this.length
  }

  replace(index: number, tensor: Tensor): void {
    this[index] = tensor
  }

  nameAt(index: number): string {
    return this[index]!.name
  }
}
