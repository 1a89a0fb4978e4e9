// Checkpoints in 8-bit floats: a matrix of E4M3 and, beside it, scales for blocks of it. The product is what the weights are.
import { f32 } from '../../dtypes/index.js'
import { failWith } from '../../errors/index.js'
import { lazyPayload, type Payload, readPayload, type Tensor } from '../../model/index.js'
import { castTensor } from '../../transforms/cast.js'
import { fileOf, mapElements } from '../../transforms/map-elements.js'
import { familyCodes } from '../codes.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'

const scaleSuffix = '_scale_inv'
const unused = /[._]activation_scale$/

/** The tensors with values in place of codes, and without the scales. */
export function withoutFp8(tensors: readonly Tensor[], config: Config, file: string): readonly Tensor[] {
  const settings = config.quantization_config
  const method = isObject(settings) ? settings.quant_method : undefined
  if (method == null || method === 'mxfp4') return tensors
  if (method !== 'fp8') {
    const message = `weights quantized by ${JSON.stringify(method)} cannot be converted; a version with plain weights is needed`
    failWith(familyCodes.quantization, { file, path: 'quantization_config.quant_method', message })
  }
  const blocks = isObject(settings) ? settings.weight_block_size : undefined
  const scales = new Map(tensors.filter(({ name }) => name.endsWith(scaleSuffix)).map((each) => [each.name, each]))
  return tensors
    .filter(({ name }) => !scales.has(name) && !unused.test(name))
    .map((tensor) => {
      const scale = scales.get(tensor.name + scaleSuffix)
      return scale ? scaled(tensor, scale, blocks) : tensor
    })
}

function scaled(tensor: Tensor, scale: Tensor, blocks: unknown): Tensor {
  const values = castTensor(tensor, f32)
  const steps = blockSizes(tensor, scale, blocks)
  const [columns, rows] = [tensor.shape.at(-1) ?? 1, tensor.shape.at(-2) ?? 1]
  const [stepDown, stepAcross] = [steps.at(-2) ?? rows, steps.at(-1) ?? columns]
  const across = scale.shape.at(-1) ?? 1
  const down = scale.shape.length > 1 ? scale.shape.at(-2)! : 1
  const multiply = (scales: Float32Array): Payload =>
    mapElements({
      input: values.data!,
      shape: tensor.shape,
      from: f32.group,
      to: f32.group,
      convert(source, target, first, count) {
        target.set(source)
        scaleRun(target, first, count, (element) => {
          const row = Math.floor(element / columns)
          const matrix = Math.floor(row / rows)
          const at = Math.floor((row % rows) / stepDown) * across + Math.floor((element % columns) / stepAcross)
          return scales[matrix * down * across + at]!
        })
      },
    })
  const ready = async (signal?: AbortSignal): Promise<Payload> => {
    const bytes = await readPayload(castTensor(scale, f32).data!, signal)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return multiply(Float32Array.from({ length: bytes.byteLength / 4 }, (_, i) => view.getFloat32(4 * i, true)))
  }
  const data: Payload = {
    ...lazyPayload(values.data!.byteLength, async function* (signal) {
      yield* (await ready(signal)).chunks(1 << 20, signal)
    }),
    read: async (offset, length, signal) => (await ready(signal)).read!(offset, length, signal),
  }
  return { ...values, data }
}

function scaleRun(target: Uint8Array, first: number, count: number, scaleOf: (element: number) => number): void {
  const view = new DataView(target.buffer, target.byteOffset, count * 4)
  for (let i = 0; i < count; i++) view.setFloat32(4 * i, view.getFloat32(4 * i, true) * scaleOf(first + i), true)
}

/** How many rows and columns one scale is for. */
function blockSizes(tensor: Tensor, scale: Tensor, blocks: unknown): readonly number[] {
  const refuse = (message: string): never =>
    failWith(familyCodes.quantization, { file: fileOf(scale.data), path: scale.name, message })
  const shape = `[${tensor.shape.join(', ')}]`
  if (!tensor.data || !scale.data) return refuse('it has no data')
  if (blocks == null && scale.shape.every((length) => length === 1)) return []
  if (!Array.isArray(blocks) || !blocks.every((each) => Number.isInteger(each) && each > 0))
    return refuse(`scales of shape [${scale.shape.join(', ')}] need a weight_block_size`)
  const covers = (axis: number): boolean => {
    const [length, count, size] = [tensor.shape.at(axis), scale.shape.at(axis), blocks.at(axis)]
    return length === undefined || count === Math.ceil(length / (size ?? 1))
  }
  const fits =
    blocks.length <= 2 &&
    scale.shape.length === tensor.shape.length &&
    tensor.shape.every((_, i) => covers(i - tensor.shape.length))
  if (!fits)
    refuse(`scales of shape [${scale.shape.join(', ')}] for blocks of [${blocks.join(', ')}] do not cover ${shape}`)
  return blocks
}
