import { randomBytes } from 'node:crypto';
import { machineCode, pointAddition, webAssembly } from '../../../src/chains/addresses/point-addition.ts';

const base = Buffer.from('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');
const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

describe('point addition', () => {
  it('gives the same sums in machine code as in WebAssembly', async () => {
    const native = machineCode();
    const wasm = await webAssembly();
    if (!native) return expect((await pointAddition).engine).toBe('webassembly');
    let key: Uint8Array = base;
    for (let n = 0; n < 200; n++) {
      const tweak = randomBytes(32);
      expect(native.add(key, tweak, false)).toEqual(wasm.add(key, tweak, false));
      const sum = native.add(key, tweak, true);
      expect(sum).toEqual(wasm.add(key, tweak, true));
      key = sum ?? key;
    }
  });

  it('has no sum for a tweak that is not below the order, nor for the negative of the key', async () => {
    const points = await pointAddition;
    for (const tweak of [order, 'ff'.repeat(32), (BigInt(`0x${order}`) - 1n).toString(16)]) {
      expect(points.add(base, Buffer.from(tweak, 'hex'), true)).toBeNull();
    }
  });

  it('has machine code on Linux on x64', async () => {
    if (process.platform !== 'linux' || process.arch !== 'x64') return;
    expect((await pointAddition).engine).toBe('native');
  });
});
