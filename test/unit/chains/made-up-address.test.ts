import { checkAddress } from '../../../src/chains/addresses/address.ts';
import { madeUpAddress } from '../../../src/chains/addresses/made-up-address.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';

describe('madeUpAddress', () => {
  it.each(allNetworks().map(({ id }) => id))('makes valid addresses on %s, each another one', (network) => {
    const made = Array.from({ length: 20 }, () => madeUpAddress(network));
    expect(new Set(made).size).toBe(made.length);
    for (const address of made) expect(checkAddress(network, address, null)).toMatchObject({ ok: true, address });
  });

  it('makes none on a network that does not exist', () => {
    expect(() => madeUpAddress('MOON')).toThrow('MOON');
  });
});
