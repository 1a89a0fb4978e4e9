// Pictures of tensors and models, as drawings that become pixels, PNG or SVG.
export {
  type Color,
  type Drawing,
  defaultSize,
  largestSide,
  type PictureSize,
  type Pixels,
  type Shape,
  smallestSide,
} from './drawing.js'
export {
  type CellFigure,
  cellFigures,
  colorsFor,
  drawHeatmap,
  drawTensor,
  type HeatmapOptions,
  mapRoom,
  paintCells,
} from './heatmap.js'
export { drawHistogram, type HistogramOptions } from './histogram.js'
export { type MeasuredMethods, type MeasureOptions, type MethodPoint, measureMethods } from './measure-methods.js'
export { drawMethods, type MethodsOptions } from './methods.js'
export { encodePng } from './output/png.js'
export { drawPixels } from './output/raster.js'
export { drawSvg } from './output/svg.js'
export {
  type ColorMap,
  categories,
  colorAt,
  colorMapNamed,
  colorMaps,
  colorTable,
  inkOn,
  noValue,
} from './parts/colors.js'
export { isTooFine, modelTree, modelTreeSteps, type TreeNode } from './parts/model-tree.js'
export {
  type CountedMoments,
  type Moments,
  makeScale,
  momentsOf,
  type Scale,
  type ScaleKind,
  scaleFor,
  scaleKinds,
} from './parts/scales.js'
export { type Box, squarify } from './parts/squarify.js'
export { countLabel, indexTicks, label as valueLabel, sizeLabel, ticksBetween } from './parts/ticks.js'
export { drawTreemap, type TreemapOptions } from './treemap.js'
