import { defineConfig } from 'vite'

// `tare` and `tare/kit` are the package itself, found by its own name: `npm run build` compiles it before this.
export default defineConfig({
  root: import.meta.dirname,
  // Works below any path, so that a token can be part of it.
  base: './',
  build: {
    outDir: '../dist/viewer',
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no data: addresses but those that the library itself asks for.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  worker: { format: 'es', rolldownOptions: { checks: { bundlerTimings: false } } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
