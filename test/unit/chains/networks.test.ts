import { allNetworks, type Network, networkById } from '../../../src/chains/networks/networks.ts';

const networks = allNetworks();
const memoNetworks = networks.flatMap((network) => (network.memo ? [{ id: network.id, memo: network.memo }] : []));

function shared(pick: (network: Network) => string): Map<string, string> {
  return new Map(networks.map((network) => [network.keychain, pick(network)]));
}

describe('the networks', () => {
  it('have unique ids, by which they are found', () => {
    expect(new Set(networks.map(({ id }) => id)).size).toBe(networks.length);
    for (const network of networks) expect(networkById(network.id)).toBe(network);
  });

  it.each(['', 'btc', 'BTC ', '__proto__', 'constructor'])("are not found by '%s'", (id) => {
    expect(networkById(id)).toBeUndefined();
  });

  it('that share a keychain share the account path, the family and the source of deposit addresses', () => {
    const rule = ({ accountPath, family, deposit }: Network): string => `${accountPath} ${family} ${deposit}`;
    const rules = shared(rule);
    for (const network of networks)
      expect([network.id, rule(network)]).toEqual([network.id, rules.get(network.keychain)]);
  });

  it('of different keychains never share an account path, so that no two have the same keys', () => {
    const paths = [...shared(({ accountPath }) => accountPath).values()];
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('with a tag for each order accept every tag as a memo, from the first to the last', () => {
    for (const { id, memo } of networks.filter(({ deposit }) => deposit === 'shared')) {
      expect([id, memo?.accepts('1'), memo?.accepts('4294967295')]).toEqual([id, true, true]);
    }
  });

  it.each(memoNetworks)('refuse an empty memo and control characters on $id', ({ memo }) => {
    for (const text of ['', '\n', '1\n', '\u0000', '1\u0000', '\u007f', '1'.repeat(1000)]) {
      expect([text, memo.accepts(text)]).toEqual([text, false]);
    }
  });
});
