import { registerHooks } from 'node:module';

// Loaded before a program of ours by NODE_OPTIONS, in tests only: it gives constants the values of
// TEST_CONSTANTS, a JSON object. No program of ours knows this variable.

const values = process.env.TEST_CONSTANTS ?? '{}';
const addition = `for (const [name, value] of Object.entries(${values})) constants[name] = { ...constants[name], value };`;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!/\/config\/constants\.[jt]s$/.test(new URL(url).pathname)) return loaded;
    return { ...loaded, source: `${String(loaded.source)}\n${addition}` };
  },
});
