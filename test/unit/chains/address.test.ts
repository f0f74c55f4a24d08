import fc from 'fast-check';
import { addressExample, checkAddress } from '../../../src/chains/address.ts';
import { allNetworks } from '../../../src/chains/networks.ts';

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
  ['ZEC', 't1Hsc1LR8yKnbbe3twRp88p6vFfC5t7DLbs'],
  // EIP-55
  ['ERC20', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['BEP20', '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
  ['POLYGON', '0xDBF03B407C01E7CD3CBEA99509D93F8DDDC8C6FB', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'],
  ['TRC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
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

const bad: [network: string, address: string, code: string][] = [
  // BIP173 and BIP350: checksum of the other encoding, program length, version, mixed case
  ['BTC', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', 'invalid_address'],
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'invalid_address'],
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', 'invalid_address'],
  ['BTC', 'bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47', 'invalid_address'],
  ['BTC', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx', 'invalid_address'],
  ['BTC', 'BC1SW50QGDZ25J', 'invalid_address'],
  ['BTC', 'bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'invalid_address'],
  ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'invalid_address'],
  ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'invalid_address'],
  ['BTC', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'invalid_address'],
  ['BTC', 'LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz', 'wrong_network_address'],
  ['LTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'invalid_address'],
  ['LTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'wrong_network_address'],
  ['LTC', 'ltcmweb1qqw7y6hz4z0yq', 'invalid_address'],
  ['DOGE', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7M', 'invalid_address'],
  ['BCH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'invalid_address'],
  ['BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6b', 'invalid_address'],
  ['BCH', 'bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap', 'invalid_address'],
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
  ['BTC', '', 'invalid_address'],
  ['BTC', ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'invalid_address'],
  ['BTC', 'x'.repeat(100_000), 'invalid_address'],
];

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
  ])('a secret key on %s, loudly', (network, secret) => {
    const check = checkAddress(network, secret, null);
    expect(check).toMatchObject({ ok: false, code: 'invalid_address' });
    expect(check.ok ? '' : check.detail).toContain('private key; never share it');
    expect(check.ok ? '' : check.detail).not.toContain(secret);
  });

  it('names the network that an address belongs to, and how this one’s addresses look', () => {
    const check = checkAddress('ERC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', null);
    expect(check.ok ? '' : check.detail).toBe(
      'this looks like an address on TRON; an address on ERC20 starts with 0x and has 42 characters',
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
        }).toMatchObject({ ok: false });
      }
    }
  });
});

describe('tags', () => {
  const xrp = 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh';
  const xAddress = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu';

  it.each(['0', '1', '4294967295'])('takes the destination tag %s', (tag) => {
    expect(checkAddress('XRP', xrp, tag)).toMatchObject({ ok: true, tag });
  });

  it.each(['', '-1', '01', '4294967296', '1.5', 'abc', '1\u0000', ' 1'])("refuses the destination tag '%s'", (tag) => {
    expect(checkAddress('XRP', xrp, tag)).toMatchObject({ ok: false, field: 'tag', code: 'invalid_tag' });
  });

  it('takes the tag out of an X-address, and refuses another beside it', () => {
    expect(checkAddress('XRP', xAddress, null)).toMatchObject({
      ok: true,
      address: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
      tag: '1',
    });
    expect(checkAddress('XRP', xAddress, '1')).toMatchObject({ ok: true, tag: '1' });
    expect(checkAddress('XRP', xAddress, '2')).toMatchObject({ ok: false, code: 'conflicting_tag' });
  });

  it('refuses one where the network has none', () => {
    expect(checkAddress('TRC20', addressExample('TRC20'), '1')).toMatchObject({
      ok: false,
      field: 'tag',
      code: 'tag_not_supported',
    });
  });

  it.each(['18446744073709551615', 'hello', 'a'.repeat(28)])('takes the Stellar memo %s', (tag) => {
    expect(checkAddress('XLM', addressExample('XLM'), tag)).toMatchObject({ ok: true, tag });
  });

  it.each(['18446744073709551616', 'a'.repeat(29), 'line\nbreak', '', '007'])(
    "refuses the Stellar memo '%s'",
    (tag) => {
      expect(checkAddress('XLM', addressExample('XLM'), tag)).toMatchObject({ ok: false, code: 'invalid_tag' });
    },
  );
});

describe('for every text', () => {
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
    const checked = ids.filter((id) => id !== 'SOL');
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
          if (check.ok) expect(check.address.toLowerCase()).toBe(example.toLowerCase());
        },
      ),
      { numRuns: 5000 },
    );
  });
});
