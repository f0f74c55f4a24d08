import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * How every surface is bundled; tools/build-web.js adds its base. No file is inlined, because the
 * policy admits files of ours only.
 */
export default defineConfig({
  plugins: [react()],
  // The packages of the root bring an older React, which must not come into the bundle.
  resolve: { dedupe: ['react', 'react-dom'] },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    sourcemap: false,
    manifest: true,
    license: { fileName: 'licences.md' },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: 'data', test: /node_modules[\\/](@tanstack|graphql-ws)[\\/]/ },
          ],
        },
      },
    },
  },
});
