import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Writes the addresses of a surface's pages next to its bundle, as its router.tsx names them. The
 * gateway serves no others.
 */
function addresses(): Plugin {
  let found: string[] = [];
  return {
    name: 'addresses',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/router.tsx')) return;
      found = [...code.matchAll(/(?:\b(?:page|moved)\(|\bpath: )'(\/[^']*)'/g)].map(([, address = '']) => address);
    },
    generateBundle() {
      if (found.length === 0) this.error('router.tsx names no page');
      this.emitFile({ type: 'asset', fileName: 'addresses.json', source: JSON.stringify(found) });
    },
  };
}

/**
 * How every surface is bundled; tools/build-web.js adds its base. No file is inlined, because the
 * policy admits files of ours only.
 */
export default defineConfig({
  plugins: [addresses(), react()],
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
