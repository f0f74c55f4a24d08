import { blake2b } from '@noble/hashes/blake2.js';
import { sha256, sha512_256 } from '@noble/hashes/sha2.js';
import { base58xrp, bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { addressExample, checkAddress } from '../../../src/chains/addresses/address.ts';
import { encodeCashaddr } from '../../../src/chains/addresses/bitcoin-cash.ts';
import { encodeP2wpkh } from '../../../src/chains/addresses/bitcoin-like.ts';
import * as hashes from '../../../src/chains/addresses/hashes.ts';
import { encodeStrkey } from '../../../src/chains/addresses/stellar.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';

const good: [network: string, address: string, canonical?: string, tag?: string][] = [
  // BIP173 and BIP350
  ['BTC', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  ['BTC', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'],
  ['BTC', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['BTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
  ['LTC', 'LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz'],
  ['LTC', 'MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441'],
  ['DOGE', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'],
  // The cashaddr specification
  ['BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
  ['BCH', 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
  [
    'BCH',
    'BITCOINCASH:PPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVN0H829PQ',
    'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq',
  ],
  ['ZEC', 't3Vz22vK5z2LcKEdg16Yv4FFneEL1zg9ojd'],
  ['ZEC', 'zs1z7rejlpsa98s2rrrfkwmaxu53e4ue0ulcrw0h4x5g8jl04tak0d3mm47vdtahatqrlkngh9slya'],
  ['DASH', '7gnwGHt17heGpG9Crfeh4KGpYNFugPhJdh'],
  // EIP-55
  ['ERC20', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['BEP20', '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
  ['POLYGON', '0xDBF03B407C01E7CD3CBEA99509D93F8DDDC8C6FB', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'],
  ['TRC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['XRP', 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3'],
  ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'],
  // SEP-23
  [
    'XLM',
    'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ',
    'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    '0',
  ],
  ['ATOM', 'cosmos1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd02'],
];

describe('checkAddress accepts', () => {
  it.each(good)('on %s: %s', (network, address, canonical = address, tag) => {
    expect(checkAddress(network, address, null)).toMatchObject({ ok: true, address: canonical, tag: tag ?? null });
  });

  it.each(allNetworks().map(({ id }) => id))('its own example on %s', (network) => {
    expect(checkAddress(network, addressExample(network), null)).toMatchObject({ ok: true });
  });
});

/** An X-address of any content with a right checksum. */
function xAddress(payload: Uint8Array): string {
  return base58xrp.encode(Uint8Array.from([...payload, ...sha256(sha256(payload)).subarray(0, 4)]));
}

const bad: [network: string, address: string, code: string][] = [
  // BIP173 and BIP350: checksum of the other encoding, program length, version, mixed case
  ['BTC', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', 'invalid_address'],
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'invalid_address'],
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', 'invalid_address'],
  ['BTC', 'bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47', 'invalid_address'],
  ['BTC', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx', 'invalid_address'],
  ['BTC', 'BC1SW50QGDZ25J', 'invalid_address'],
  ['BTC', 'bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'invalid_address'],
  ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'wrong_network_address'],
  ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'wrong_network_address'],
  ['BTC', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'invalid_address'],
  ['BTC', 'LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz', 'wrong_network_address'],
  ['LTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'invalid_address'],
  ['LTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'wrong_network_address'],
  ['LTC', 'ltcmweb1qqw7y6hz4z0yq', 'invalid_address'],
  ['DOGE', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7M', 'invalid_address'],
  ['BCH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'invalid_address'],
  ['BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6b', 'invalid_address'],
  ['BCH', 'bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap', 'wrong_network_address'],
  [
    'ZEC',
    'u1l9f0l4348negsncgr9pxd9d3qaxagmqv3lnexcplmufpq7muffvfaue6ksevfvd7wrz7xrvn95rc5zjtn7ugkmgh5rnxswmcj30y0pw52pn0zjvy38rn2esfgve64rj5pcmazxgpyuj',
    'invalid_address',
  ],
  ['ERC20', '0x5aAeb6053f3E94C9b9A09f33669435E7Ef1BeAed', 'invalid_address'],
  ['ERC20', '0x0000000000000000000000000000000000000000', 'invalid_address'],
  ['ERC20', '0x000000000000000000000000000000000000dEaD', 'invalid_address'],
  ['ERC20', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'invalid_address'],
  ['ERC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'wrong_network_address'],
  ['TRC20', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'wrong_network_address'],
  ['TRC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', 'invalid_address'],
  ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi', 'invalid_address'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp', 'invalid_address'],
  ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA', 'invalid_address'],
  ['ATOM', 'cosmos1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd03', 'invalid_address'],
  ['SOL', '11111111111111111111111111111111', 'invalid_address'],
  // Test networks and sister networks, on their own chain's network and on another's
  ['BTC', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'wrong_network_address'],
  ['ERC20', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'wrong_network_address'],
  ['TRC20', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'wrong_network_address'],
  ['DASH', 'yNPbcFfabtNmmxKdGwhHomdYfVs6gikbPf', 'wrong_network_address'],
  ['XRP', 'T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ', 'wrong_network_address'],
  ['DOT', 'HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F', 'wrong_network_address'],
  ['DOT', '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY', 'wrong_network_address'],
  ['BTC', '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY', 'wrong_network_address'],
  ['ATOM', bech32.encodeFromBytes('osmo', new Uint8Array(20).fill(9)), 'wrong_network_address'],
  ['ATOM', 'cosmosvaloper1clpqr4nrk4khgkxj78fcwwh6dl3uw4epsluffn', 'invalid_address'],
  ['ATOM', bech32.encodeFromBytes('cosmos', new Uint8Array(21).fill(9)), 'invalid_address'],
  ['ETH', 'stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw', 'wrong_network_address'],
  // BIP350: versions and lengths that no key can spend from, or that anyone can
  ['BTC', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y', 'invalid_address'],
  ['BTC', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', 'invalid_address'],
  // Right checksums around keys without an owner: money sent there is lost
  [
    'BTC',
    bech32m.encode('bc', [1, ...bech32m.toWords(Uint8Array.from([...new Uint8Array(31), 5]))]),
    'invalid_address',
  ],
  ['BTC', bech32.encode('bc', [0, ...bech32.toWords(new Uint8Array(20))]), 'invalid_address'],
  ['BTC', '1111111111111111111114oLvT2', 'invalid_address'],
  ['ZEC', 't1Hsc1LR8yKnbbe3twRp88p6vFfC5t7DLbs', 'invalid_address'],
  ['ERC20', '0x0000000000000000000000000000000000000001', 'invalid_address'],
  ['ERC20', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', 'invalid_address'],
  ['ERC20', '0xdead000000000000000042069420694206942069', 'invalid_address'],
  ['TRX', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', 'invalid_address'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrBZbvji', 'invalid_address'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrn5RM1rHd', 'invalid_address'],
  ['XRP', xAddress(Uint8Array.from([0x05, 0x44, ...new Uint8Array(29)])), 'invalid_address'],
  ['XLM', encodeStrkey(6 << 3, new Uint8Array(32)), 'invalid_address'],
  ['XLM', encodeStrkey(12 << 3, new Uint8Array(40)), 'invalid_address'],
  ['ATOM', bech32.encodeFromBytes('cosmos', new Uint8Array(20)), 'invalid_address'],
  ['XTZ', 'tz1Ke2h7sDdakHJQh8WX4Z372du1KChsksyU', 'invalid_address'],
  ['XTZ', 'tz1burnburnburnburnburnburnburjAYjjX', 'invalid_address'],
  // SEP-23: an unused bit that is set, a wrong length
  ['XLM', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR', 'invalid_address'],
  ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA', 'invalid_address'],
  ['BTC', '', 'invalid_address'],
  ['BTC', ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'invalid_address'],
  ['BTC', 'x'.repeat(100_000), 'invalid_address'],
];

/** BIP32, test vector 1. */
const xprv =
  'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';

describe('checkAddress refuses', () => {
  it.each(bad)('on %s: %.60s', (network, address, code) => {
    expect(checkAddress(network, address, null)).toMatchObject({ ok: false, field: 'address', code });
  });

  it.each([
    ['BTC', 'L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ'],
    ['ERC20', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
    ['XRP', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb'],
    ['XLM', 'SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR'],
    ['ERC20', `0x${'1'.repeat(64)}`],
    ['TRC20', 'a'.repeat(64)],
    ['BTC', xprv],
    ['ERC20', xprv],
    ['ADA', 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'],
  ])('a secret key on %s, with a warning that names it a secret', (network, secret) => {
    const check = checkAddress(network, secret, null);
    expect(check).toMatchObject({ ok: false, code: 'invalid_address' });
    expect(check.ok ? '' : check.detail).toContain('SECRET KEY, a private key; never share it');
    expect(check.ok ? '' : check.detail).not.toContain(secret);
  });

  it('names the network of an address, and the form of the expected one', () => {
    const check = checkAddress('ERC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', null);
    expect(check.ok ? '' : check.detail).toBe(
      'this looks like an address on TRON; an address on ERC20 starts with 0x and has 42 characters',
    );
  });

  it('a test network address with the name of its chain', () => {
    const check = checkAddress('ERC20', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', null);
    expect(check.ok ? '' : check.detail).toBe(
      'this looks like an address on a test network of Bitcoin; an address on ERC20 starts with 0x and has 42 characters',
    );
  });

  it('spaces around an address, and says so', () => {
    const check = checkAddress('TRX', ' TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH\n', null);
    expect(check.ok ? '' : check.detail).toContain('spaces or line breaks around it');
  });

  it('on SOL every upper-case Litecoin address, though many are base58 of a point of the curve', () => {
    // Each of these was once taken for a wallet.
    for (const address of [
      'LTC1QZV4KJW5ACJ6GS7FATDTPPF7T689ULP9NFQGASZ',
      'osmo1qvzxqjvvh25dr5xdx8szzhejfakx7kpkzw549p',
    ]) {
      expect(checkAddress('SOL', address, null)).toMatchObject({ ok: false, field: 'address' });
    }
    const hashes = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(hashes, (hash) => {
        const address = encodeP2wpkh('ltc', hash.fill(1, 0, 1)).toUpperCase();
        expect(checkAddress('LTC', address, null)).toMatchObject({ ok: true });
        expect(checkAddress('SOL', address, null)).toMatchObject({ ok: false, code: 'wrong_network_address' });
      }),
      { numRuns: 500 },
    );
  });

  it('every address of every other family', () => {
    for (const network of allNetworks()) {
      for (const other of allNetworks()) {
        if (other.family === network.family) continue;
        expect({
          on: network.id,
          of: other.id,
          ...checkAddress(network.id, addressExample(other.id), null),
        }).toMatchObject({ ok: false, code: 'wrong_network_address' });
      }
    }
  });
});

describe('tags', () => {
  const xrp = 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3';
  const xAddress = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu';

  it.each(['0', '1', '4294967295'])('takes the destination tag %s', (tag) => {
    expect(checkAddress('XRP', xrp, tag)).toMatchObject({ ok: true, tag });
  });

  it.each(['', '-1', '01', '4294967296', '1.5', 'abc', '1\u0000', ' 1'])("refuses the destination tag '%s'", (tag) => {
    expect(checkAddress('XRP', xrp, tag)).toMatchObject({ ok: false, field: 'tag', code: 'invalid_tag' });
  });

  it('takes the tag out of an X-address, and refuses another tag with it', () => {
    expect(checkAddress('XRP', xAddress, null)).toMatchObject({
      ok: true,
      address: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
      tag: '1',
    });
    expect(checkAddress('XRP', xAddress, '1')).toMatchObject({ ok: true, tag: '1' });
    expect(checkAddress('XRP', xAddress, '2')).toMatchObject({ ok: false, code: 'conflicting_tag' });
  });

  it.each(['ATOM', 'TON'])('takes printable text on %s, without spaces at its ends', (network) => {
    const address = addressExample(network);
    expect(checkAddress(network, address, 'order 7, thank you')).toMatchObject({ ok: true, tag: 'order 7, thank you' });
    for (const tag of [' 7', '7 ', ' ', 'ü', '7\t', '7\u0000', 'a'.repeat(257)]) {
      expect(checkAddress(network, address, tag)).toMatchObject({ ok: false, field: 'tag', code: 'invalid_tag' });
    }
  });

  it('refuses a tag on a network without tags', () => {
    expect(checkAddress('TRC20', addressExample('TRC20'), '1')).toMatchObject({
      ok: false,
      field: 'tag',
      code: 'tag_not_supported',
    });
  });

  it.each([
    '18446744073709551615',
    'hello',
    'a'.repeat(28),
    'für Anna',
    '支付'.repeat(4),
  ])('takes the Stellar memo %s', (tag) => {
    expect(checkAddress('XLM', addressExample('XLM'), tag)).toMatchObject({ ok: true, tag });
  });

  it.each([
    '18446744073709551616',
    'a'.repeat(29),
    '支付'.repeat(5),
    'line\nbreak',
    '',
    '007',
    ' 12',
    '12 ',
    'a\u202eb',
    '\ud800',
  ])("refuses the Stellar memo '%s'", (tag) => {
    expect(checkAddress('XLM', addressExample('XLM'), tag)).toMatchObject({ ok: false, code: 'invalid_tag' });
  });
});

describe('checkAddress with random text', () => {
  const ids = allNetworks().map(({ id }) => id);

  it('answers and never throws', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ids),
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.option(fc.string({ unit: 'binary' })),
        (id, text, tag) => {
          expect(typeof checkAddress(id, text, tag).ok).toBe('boolean');
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('one mistyped character never becomes another address', () => {
    // Solana's form has no checksum; those of EVM and Polkadot are so short that chance would find
    // a collision.
    const checked = allNetworks()
      .filter(({ family }) => !['solana', 'evm', 'polkadot'].includes(family))
      .map(({ id }) => id);
    const canonical = new Map(
      checked.map((id) => {
        const check = checkAddress(id, addressExample(id), null);
        return [id, check.ok ? check.address : null];
      }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...checked),
        fc.nat(),
        fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0-_:'),
        (id, at, character) => {
          const example = addressExample(id);
          const position = at % example.length;
          const mutated = example.slice(0, position) + character + example.slice(position + 1);
          const check = checkAddress(id, mutated, null);
          // The same address in another of its forms is no other address.
          if (check.ok) expect(check).toMatchObject({ address: canonical.get(id) });
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('a mixed-case EVM address with one mistyped digit fails its checksum', () => {
    const example = addressExample('ETH');
    const mutations = [...example].flatMap((digit, at) =>
      [...'0123456789abcdefABCDEF']
        .filter((other) => other !== digit)
        .map((other) => example.slice(0, at) + other + example.slice(at + 1)),
    );
    expect(mutations.filter((mutated) => checkAddress('ETH', mutated, null).ok)).toEqual([]);
  });

  it('answers for 100,000 characters at once', () => {
    // CPU time, because other programs take turns on a busy machine.
    const started = process.cpuUsage();
    for (const id of ids) {
      for (const unit of ['1', 'a', '0', ' a', '\u0000']) {
        const text = unit.repeat(100_000 / unit.length);
        expect(checkAddress(id, text, null).ok).toBe(false);
        expect(checkAddress(id, addressExample(id), text).ok).toBe(false);
      }
    }
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000);
  });
});

describe('encodeCashaddr', () => {
  const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

  /** As the specification writes it, with numbers of 40 bits. */
  function polymod(values: readonly number[]): bigint {
    const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
    let checksum = 1n;
    for (const value of values) {
      const top = checksum >> 35n;
      checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(value);
      for (const [i, generator] of generators.entries()) if ((top >> BigInt(i)) & 1n) checksum ^= generator;
    }
    return checksum ^ 1n;
  }

  it('writes the checksum of the specification, which the check then takes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (keyHash) => {
        fc.pre(keyHash.some((byte) => byte !== 0));
        const address = encodeCashaddr(keyHash);
        const [prefix = '', body = ''] = address.split(':');
        const words = [...prefix].map((letter) => letter.charCodeAt(0) & 31);
        expect(polymod([...words, 0, ...[...body].map((letter) => charset.indexOf(letter))])).toBe(0n);
        expect(checkAddress('BCH', address, null)).toMatchObject({ ok: true, address });
      }),
    );
  });
});

describe('the hashes of OpenSSL', () => {
  it('are equal to the hashes of established libraries', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
        expect(Uint8Array.from(hashes.sha256(data))).toEqual(sha256(data));
        expect(Uint8Array.from(hashes.sha512_256(data))).toEqual(sha512_256(data));
        expect(Uint8Array.from(hashes.blake2b512(data))).toEqual(blake2b(data));
      }),
    );
  });
});
