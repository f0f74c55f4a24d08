import { chainIdsOf, evmChains } from '../../../src/chains/evm/evm-chain-ids.ts';
import { isIdentityOfValue } from '../../../src/chains/families/chain-identity.ts';
import { utxoChains, utxoParams } from '../../../src/chains/networks/utxo-params.ts';

const hash = `0x${'1'.repeat(64)}`;

describe('coins are money', () => {
  it.each(evmChains)('on the first network of %s, and not on its test networks', (chain) => {
    const [main, ...others] = chainIdsOf(chain);
    expect(isIdentityOfValue(`evm:${main}:${hash}`)).toBe(true);
    expect(isIdentityOfValue(`evm:${main}:`)).toBe(true);
    expect(others.filter((id) => isIdentityOfValue(`evm:${id}:${hash}`))).toEqual([]);
  });

  it.each(utxoChains)('on the main network of %s only', (chain) => {
    const isOn = (net: 'main' | 'test' | 'regtest') => isIdentityOfValue(`utxo:${utxoParams(chain, net).genesis}`);
    expect([isOn('main'), isOn('test'), isOn('regtest')]).toEqual([true, false, false]);
  });

  it('on unknown chains, and not on the sandbox', () => {
    expect(isIdentityOfValue(`evm:999999:${hash}`)).toBe(true);
    expect(isIdentityOfValue(`utxo:${'1'.repeat(64)}`)).toBe(true);
    expect(isIdentityOfValue('sandbox')).toBe(false);
  });
});
