import { families, familyOf, type NetworkConfig } from '../../../src/chains/families/families.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';

const ethereum = { kind: 'evm', chain: 'ethereum', chainId: 1 } as unknown as NetworkConfig;
const litecoin = { kind: 'utxo', chain: 'litecoin', net: 'regtest' } as unknown as NetworkConfig;

describe('the table of families', () => {
  it('gives each chain of the table of networks one family', () => {
    const served = families.flatMap(({ chains }) => chains);
    expect(new Set(served).size).toBe(served.length);
    const known = new Set(allNetworks().map(({ chain }) => chain));
    expect(served.filter((chain) => !known.has(chain))).toEqual([]);
  });

  it('gives the row of a network', () => {
    expect(familyOf(ethereum).kind).toBe('evm');
    expect(familyOf(litecoin).kind).toBe('utxo');
  });

  it('gives a readable name of a network', () => {
    expect(familyOf(ethereum).netName(ethereum)).toBe('chain id 1');
    expect(familyOf(litecoin).netName(litecoin)).toBe('regtest');
  });

  it('has the genesis hash of Bitcoin-like chains, and asks nodes of other chains', () => {
    expect(familyOf(ethereum).genesisOf(ethereum)).toBeNull();
    const genesis = familyOf(litecoin).genesisOf(litecoin) ?? '';
    expect(familyOf(litecoin).identityOf(litecoin, genesis)).toBe(`utxo:${genesis}`);
    expect(familyOf(ethereum).identityOf(ethereum, '0xabc')).toBe('evm:1:0xabc');
  });

  it('gives the least confirmations of a deposit, also where the chain itself calls blocks final', () => {
    const depth = (network: NetworkConfig, finality: number | string) =>
      familyOf(network).finalityDepth({ ...network, finality } as NetworkConfig);
    expect([depth(ethereum, 'safe'), depth(ethereum, 'finalized'), depth(ethereum, 12)]).toEqual([64, 96, 12]);
    expect(depth(litecoin, 6)).toBe(6);
  });

  it('has one row for a kind, and none for another', () => {
    expect(new Set(families.map(({ kind }) => kind)).size).toBe(families.length);
    expect(() => familyOf({ kind: 'sandbox' } as unknown as NetworkConfig)).toThrow('sandbox is no family of chains');
  });
});
