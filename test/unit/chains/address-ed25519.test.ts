import { hexToBytes } from '@noble/hashes/utils.js';
import { base58, bech32 } from '@scure/base';
import fc from 'fast-check';
import { algorandCodec, encodeAlgorand } from '../../../src/chains/addresses/algorand.ts';
import { cardanoCodec, encodeCardanoEnterprise } from '../../../src/chains/addresses/cardano.ts';
import type { AddressCodec } from '../../../src/chains/addresses/codec.ts';
import { encodeMonero, moneroCodec } from '../../../src/chains/addresses/monero.ts';
import { encodePolkadot, polkadotCodec } from '../../../src/chains/addresses/polkadot.ts';
import { encodeSolana, solanaCodec } from '../../../src/chains/addresses/solana.ts';
import { encodeTezos, tezosCodec } from '../../../src/chains/addresses/tezos.ts';
import { crc16Xmodem, encodeTon, tonCodec } from '../../../src/chains/addresses/ton.ts';

interface Family {
  readonly name: string;
  readonly codec: AddressCodec;
  /** Text, kind, and the stored form where it is another. */
  readonly good: readonly (readonly [text: string, kind: string, address?: string])[];
  /** Text, and what the reason says; null where there is none. */
  readonly bad: readonly (readonly [text: string, reason: RegExp | null])[];
  /** False where the form has no checksum. */
  readonly checksum: boolean;
}

const tonHash = '340ffe5676eb1a081f92a67a04ea5e53cdd06680e9334dc5eb761d29c7a837cc';
const testNetwork = /test network/;
const zero = /zero address/;
const privateKey = /private key; never share/;

/** Any content with a right checksum. */
function shelley(header: number, length: number, byte29 = 7): string {
  const bytes = new Uint8Array(length).fill(7).fill(header, 0, 1).fill(byte29, 29, 30);
  return bech32.encode('addr', bech32.toWords(bytes), false);
}

const families: readonly Family[] = [
  {
    name: 'TON',
    codec: tonCodec,
    checksum: true,
    good: [
      [
        'EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk',
        'bounceable',
        'UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh',
      ],
      ['UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh', 'non-bounceable'],
      [
        'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
        'bounceable',
        'UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p',
      ],
      [
        'EQA0D/5WdusaCB+SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk',
        'bounceable',
        'UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh',
      ],
      [`0:${tonHash}`, 'raw', 'UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh'],
      [`0:${tonHash.toUpperCase()}`, 'raw', 'UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh'],
      [
        'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF',
        'bounceable',
        'Uf8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMxYA',
      ],
    ],
    bad: [
      ['kf_8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYIny', testNetwork],
      ['kQD6oPnzaaAMRW24R8F0_nlSsJQni0cGHntR027eT9_sgtwt', testNetwork],
      ['EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSl', null],
      ['EQA0D/5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk', null],
      [' EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk', null],
      ['EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJS', null],
      ['EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c', zero],
      [`0:${'0'.repeat(64)}`, zero],
      [`1:${tonHash}`, null],
      [`0:${tonHash.slice(1)}`, null],
      [encodeTon(1, hexToBytes(tonHash)), /workchain 1/],
    ],
  },
  {
    name: 'Solana',
    codec: solanaCodec,
    checksum: false,
    good: [
      ['HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk', 'wallet'],
      ['9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', 'wallet'],
      ['Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb', 'wallet'],
    ],
    bad: [
      // The token account of the first good wallet for a mint.
      ['FF2BjgeRK2LgK8Lj4wY2CTJrmJAKV5ZPCdHqfq1tJLGi', /token account/],
      ['HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DK', null],
      ['HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqkk', null],
      ['0Agk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk', null],
      ['0x9858EfFD232B4033E47d90003D41EC34EcaEda94', null],
    ],
  },
  {
    name: 'Cardano',
    codec: cardanoCodec,
    checksum: true,
    // https://cips.cardano.org/cip/CIP-19 and addresses of old wallets.
    good: [
      [
        'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x',
        'base',
      ],
      [
        'addr1yx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs2z78ve',
        'base',
      ],
      [
        'addr1x8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shskhj42g',
        'base',
      ],
      ['addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k', 'pointer'],
      ['addr128phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcrtw79hu', 'pointer'],
      ['addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8', 'enterprise'],
      ['addr1w8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcyjy7wx', 'enterprise'],
      [
        'ADDR1VX2FXV2UMYHTTKXYXP8X0DLPDT3K6CWNG5PXJ3JHSYDZERS66HRL8',
        'enterprise',
        'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8',
      ],
      ['Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi', 'byron'],
      [
        'DdzFFzCqrhsqTG4t3uq5UBqFrxhxGVM6bvF4q1QcZXqUpizFddEEip7dx5rbife2s9o2fRU3hVKhRp4higog7As8z42s4AMw6Pcu8vL4',
        'byron',
      ],
    ],
    bad: [
      ['stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw', /stake address/],
      [
        'addr_test1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs68faae',
        testNetwork,
      ],
      ['2cWKMJemoBaipzQe9BArYdo2iPUfJQdZAjm4iCzDA1AfNxJSTgm9FZQTmFCYhKkeYrede', testNetwork],
      [
        '37btjrVyb4KFsMoVwPRZ5aJko48uBFFUnJ46eV3vC3uBCC65mj5BfbGP6jYDfhojm8MAayHo4RPvWH4x852FcJq8SHazCx31FJM2TfDpV9Azrc8UKD',
        testNetwork,
      ],
      [shelley(0x60, 29), testNetwork],
      ['addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl9', null],
      ['Addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8', null],
      ['Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAj', null],
      // Right checksums, wrong content: a byte too few, a byte too many, an unknown type, a reward
      // header.
      [shelley(0x61, 28), null],
      [shelley(0x01, 58), null],
      [shelley(0x81, 29), null],
      [shelley(0xe1, 29), null],
      // Pointers of two numbers, and of a number with a leading zero.
      [shelley(0x41, 31), null],
      [shelley(0x41, 33, 0x80), null],
      [`addr_xsk1${'q'.repeat(150)}`, privateKey],
    ],
  },
  {
    name: 'Monero',
    codec: moneroCodec,
    checksum: true,
    good: [
      ['44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A', 'standard'],
      ['89EpSrB4wKB3UrLk8Zf4dHhvcfo1TqVfR6PAE8WPtwK9YuJhiEaU49y8w9fBaCTPUSCmaYTQbD3LhgbkHriuQLgDMM1dpsk', 'subaddress'],
      [
        '4LiifdU2wUF3aCTG8X83ZM1xunHBjWEB5jmzM1zfrAKcGokjBPvS7eAcadEQZEgDhDeweod9KEZ5L2mXYVthxdxy4KUCty2MEBbHiGc8eM',
        'integrated',
      ],
    ],
    bad: [
      ['5Aro6RZf2gc9AZGHkyVLkvU4Qonc8yQ8fR4PZTy9haCVe6NHSMH4TtNLyWhovaP75PFDSUC9cAML7MAGhXS56o16H7BmpEP', testNetwork],
      ['74oX2Dpt1g53S1AUVmcitNMaatEtSw4P79gi4Dnk8dYH7BAS9PFbcrQA27WWLurvzR9hL87soCikrb8oNvuW7bL8K2YVwh5', testNetwork],
      ['44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3B', null],
      ['44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3', null],
      // Right checksum, but no points of the curve.
      [encodeMonero(18, new Uint8Array(32).fill(2), new Uint8Array(32).fill(2)), null],
      ['bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', null],
    ],
  },
  {
    name: 'Polkadot',
    codec: polkadotCodec,
    checksum: true,
    good: [
      ['15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5', 'account'],
      ['1FRMM8PEiWXYax7rpS6X4XZX1aAAxSWx1CrKTyrVYhV24fg', 'account'],
    ],
    bad: [
      ['5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY', /Substrate/],
      ['HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F', /Kusama/],
      ['15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp6', null],
      ['15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp', null],
      [encodePolkadot(new Uint8Array(32)), zero],
      ['0xd43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d', null],
    ],
  },
  {
    name: 'Algorand',
    codec: algorandCodec,
    checksum: true,
    good: [
      ['VCMJKWOY5P5P7SKMZFFOCEROPJCZOTIJMNIYNUCKH7LRO45JMJP6UYBIJA', 'account'],
      ['7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q', 'account'],
    ],
    bad: [
      ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ', zero],
      ['VCMJKWOY5P5P7SKMZFFOCEROPJCZOTIJMNIYNUCKH7LRO45JMJP6UYBIJB', null],
      ['vcmjkwoy5p5p7skmzffoceropjczotijmniynuckh7lro45jmjp6uybija', null],
      ['VCMJKWOY5P5P7SKMZFFOCEROPJCZOTIJMNIYNUCKH7LRO45JMJP6UYBIJ', null],
      ['GC3MMSXBWHL6CPOAVERSJITX7BH76YU252WGLUOM5CJX3E7UCYZBTPJQ', null],
    ],
  },
  {
    name: 'Tezos',
    codec: tezosCodec,
    checksum: true,
    good: [
      ['tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb', 'ed25519'],
      ['tz2BFTyPeYRzxd5aiBchbXN3WCZhx7BqbMBq', 'secp256k1'],
      ['tz3WXYtyDUNL91qfiCJtVUX746QpNv5i5ve5', 'p256'],
      ['tz4HVR6aty9KwsQFHh81C1G7gBdhxT8kuytm', 'bls12-381'],
      ['KT1BRd2ka5q2cPRdXALtXD1QZ38CPam2j1ye', 'contract'],
    ],
    bad: [
      ['edsk3QoqBuvdamxouPhin7swCvkQNgq4jP5KZPbwWNnwdZpSpJiEbq', privateKey],
      ['edsk3QoqBuvdamxouPhin7swCvkQNgq4jP5KZPbwWNnwdZpSpJiEb', privateKey],
      ['edpkvGfYw3LyB1UcCahKQk4rF2tvbMUk8GFiTuMjL75uGXrpvKXhjn', /public key/],
      ['tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjc', null],
      ['tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcj', null],
      ['tz2VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb', null],
    ],
  },
];

const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/-_:';

describe.each(families)('addresses on $name', ({ codec, good: goodRows, bad, checksum }) => {
  const good = goodRows.map(([text, kind, address = text]): [string, string, string] => [text, kind, address]);

  it.each(good)('accepts %s', (text, kind, address) => {
    expect(codec.decode(text)).toEqual({ ok: true, address, tag: null, kind });
  });

  it.each(good)('stores %s in a form that parses to itself', (text, _kind, address) => {
    expect(codec.decode(text)).toMatchObject({ address });
    expect(codec.decode(address)).toMatchObject({ ok: true, address });
  });

  it.each(bad)('refuses %s', (text, reason) => {
    const expected = reason === null ? null : expect.stringMatching(reason);
    expect(codec.decode(text)).toMatchObject({ ok: false, reason: expected });
  });

  if (checksum) {
    it('takes no address with one changed character for another address', () => {
      // A raw TON address has no checksum.
      const texts = good.filter(([, kind]) => kind !== 'raw');
      const taken = texts.flatMap(([text, , address]) =>
        mutations(text).filter((changed) => {
          const decoded = codec.decode(changed);
          return decoded.ok && decoded.address !== address;
        }),
      );
      expect(taken).toEqual([]);
    });
  }

  it('never throws, with any text', () => {
    const known = fc.constantFrom(...good, ...bad).map(([text]) => text);
    const edited = fc
      .tuple(known, fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: 'binary', maxLength: 4 }))
      .map(([text, at, cut, added]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + added + text.slice(place + cut);
      });
    const base58Bytes = fc.uint8Array({ maxLength: 90 }).map((bytes) => base58.encode(bytes));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), edited, base58Bytes), (text) => {
        const decoded = codec.decode(text);
        return !decoded.ok || codec.decode(decoded.address).ok;
      }),
      { numRuns: 500 },
    );
  });
});

function mutations(text: string): string[] {
  return [...text].flatMap((letter, at) =>
    [...letters].filter((other) => other !== letter).map((other) => text.slice(0, at) + other + text.slice(at + 1)),
  );
}

describe('addresses of public keys', () => {
  it('match the example of CIP-19 on Cardano', () => {
    const key = bech32.decodeToBytes('addr_vk1w0l2sr2zgfm26ztc6nl9xy8ghsk5sh6ldwemlpmp9xylzy4dtf7st80zhd').bytes;
    expect(encodeCardanoEnterprise(key)).toBe('addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8');
  });

  it('match the well-known development account on Polkadot', () => {
    const key = hexToBytes('d43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d');
    expect(encodePolkadot(key)).toBe('15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5');
  });

  it('match the well-known development account on Tezos', () => {
    // Four bytes of prefix and four of checksum around the key.
    const key = base58.decode('edpkvGfYw3LyB1UcCahKQk4rF2tvbMUk8GFiTuMjL75uGXrpvKXhjn').subarray(4, 36);
    expect(encodeTezos(key)).toBe('tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb');
  });

  it('match a published wallet on Monero', () => {
    const spend = hexToBytes('f7ee64693c501c0f6112f5ab4d33b405c35f66efb2c704ffbd2f7dc63408235e');
    const view = hexToBytes('7f9e54e6dc3fbbd4b7a3b4412c22f4e2d78ee91ddfeaa30a9181e4b374ac3613');
    expect(encodeMonero(18, spend, view)).toBe(
      '4B23epeYLCj3aCTG8X83ZM1xunHBjWEB5jmzM1zfrAKcGokjBPvS7eAcadEQZEgDhDeweod9KEZ5L2mXYVthxdxy3CQiRDK',
    );
  });

  it('encode the key itself on Solana and Algorand', () => {
    const key = base58.decode('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    expect(encodeSolana(key)).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    expect(algorandCodec.decode(encodeAlgorand(key))).toMatchObject({ ok: true });
  });
});

describe('private keys', () => {
  it('exported by a Solana wallet are recognised and refused as private keys', () => {
    // RFC 8032, test 1: secret and public key.
    const pair = hexToBytes(
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
    expect(solanaCodec.decode(base58.encode(pair))).toMatchObject({
      ok: false,
      reason: expect.stringMatching(privateKey),
    });
  });
});

describe('CRC-16/XMODEM', () => {
  it('is 0x31c3 for the digits 1 to 9', () => {
    expect(crc16Xmodem(new TextEncoder().encode('123456789'))).toBe(0x31c3);
  });
});
