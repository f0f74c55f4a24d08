import { createRequire } from 'node:module';
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';

/**
 * Where points of secp256k1 are added: libsecp256k1 as machine code, or as WebAssembly on platforms
 * that the package has no machine code for. The second takes more than twice the time.
 */
type PointEngine = 'native' | 'webassembly';

/** Adds points of secp256k1. Only public keys pass through it. */
interface PointAddition {
  readonly engine: PointEngine;
  /**
   * Adds `tweak` times the base point to a public key: BIP32's public derivation.
   *
   * @param publicKey 33 bytes, or 65 uncompressed.
   * @param tweak 32 bytes.
   * @returns 33 bytes, or 65 uncompressed. Null when the tweak is not below the order of the curve,
   *   or the sum is infinity.
   */
  add(publicKey: Uint8Array, tweak: Uint8Array, isCompressed: boolean): Uint8Array | null;
}

/** The functions of the package's machine code that are used here. It has no types. */
interface NativeSecp256k1 {
  /** @throws Error where there is no sum. */
  publicKeyTweakAdd(publicKey: Uint8Array, tweak: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** The one of this process. It is loaded with the first process part that derives addresses. */
export const pointAddition: Promise<PointAddition> = open();

async function open(): Promise<PointAddition> {
  const wasm = await webAssembly();
  const native = machineCode();
  // An address of a wrong sum has no private key.
  return native && agrees(native, wasm) ? native : wasm;
}

/** The sums of libsecp256k1 in WebAssembly. */
export async function webAssembly(): Promise<PointAddition> {
  const secp256k1 = await instantiateSecp256k1();
  return {
    engine: 'webassembly',
    add: (publicKey, tweak, isCompressed) => {
      const sum = isCompressed
        ? secp256k1.addTweakPublicKeyCompressed(publicKey, tweak)
        : secp256k1.addTweakPublicKeyUncompressed(publicKey, tweak);
      return typeof sum === 'string' ? null : sum;
    },
  };
}

/** The sums of libsecp256k1 as machine code. Null where the package has none for the platform. */
export function machineCode(): PointAddition | null {
  let native: NativeSecp256k1;
  try {
    // The package's main file would fall back to slow code without a word.
    native = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeSecp256k1;
  } catch {
    return null;
  }
  return {
    engine: 'native',
    add: (publicKey, tweak, isCompressed) => {
      try {
        return native.publicKeyTweakAdd(publicKey, tweak, isCompressed);
      } catch {
        return null;
      }
    },
  };
}

/** The base point of the curve, compressed: https://www.secg.org/sec2-v2.pdf section 2.4.1. */
const basePoint = Buffer.from('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');
/** How many sums are compared. */
const comparedSums = 16;

/** Whether both give the same sums, and refuse the same tweaks. */
function agrees(native: PointAddition, wasm: PointAddition): boolean {
  let publicKey: Uint8Array = basePoint;
  for (let n = 1; n <= comparedSums; n++) {
    const tweak = Buffer.alloc(32, n * 15);
    for (const isCompressed of [false, true]) {
      const [a, b] = [native.add(publicKey, tweak, isCompressed), wasm.add(publicKey, tweak, isCompressed)];
      if (a === null || b === null ? a !== b : Buffer.compare(a, b) !== 0) return false;
      if (a) publicKey = a;
    }
  }
  return true;
}
