import { readFileSync } from 'node:fs';
import { Big } from '../../../src/base/money.ts';
import { checkAddress } from '../../../src/chains/addresses/address.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';
import {
  magicAddress,
  magicAmount,
  magicDeposit,
  magicDeposits,
  magicOutcome,
  magicOutcomes,
} from '../../../src/settlement/sandbox/magic-values.ts';

const guide = readFileSync(new URL('../../../docs/partners/sandbox.md', import.meta.url), 'utf8');

describe('a magic address', () => {
  it.each(allNetworks().map(({ id }) => id))('is a good recipient on %s, one for each outcome', (id) => {
    for (const outcome of magicOutcomes) {
      const address = magicAddress(id, outcome);
      expect(checkAddress(id, address, null)).toMatchObject({ ok: true, address });
      expect(magicOutcome(id, address)).toBe(outcome);
      // The guide has the very address, next to its network.
      expect(guide).toContain(`\`${address}\``);
    }
    expect(new Set(magicOutcomes.map((outcome) => magicAddress(id, outcome))).size).toBe(magicOutcomes.length);
  });

  it('asks for nothing on another network, or when it is another address', () => {
    expect(magicOutcome('TRC20', magicAddress('BTC', 'hold'))).toBeNull();
    expect(magicOutcome('BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBeNull();
    expect(() => magicAddress('NONE', 'hold')).toThrow('there is no network NONE');
  });
});

describe('a magic amount', () => {
  it.each([
    ['0.191001', 'exact'],
    ['0.00091002', 'under'],
    ['12.91003', 'over'],
    ['12.1391004', 'late'],
    ['1.91005000', 'twice'],
  ])('%s asks for a deposit: %s', (amount, name) => {
    expect(magicDeposit(new Big(amount))?.name).toBe(name);
  });

  it.each(['91001', '0.9100', '0.910010001', '0.91006', '1.191', '0.1'])('%s asks for nothing', (amount) => {
    expect(magicDeposit(new Big(amount))).toBeNull();
  });

  it('is a half or one and a half of the agreed one, in whole units of the coin', () => {
    const of = (name: string) => Object.values(magicDeposits).find((deposit) => deposit.name === name);
    const amount = (name: string, agreed: string, decimals: number) => {
      const deposit = of(name);
      if (!deposit) throw new Error(`there is no ${name}`);
      return magicAmount(deposit, new Big(agreed), decimals).toFixed();
    };
    expect(amount('under', '10.91002', 6)).toBe('5.45501');
    expect(amount('over', '10.191003', 6)).toBe('15.286504');
    expect(amount('twice', '10.91005', 6)).toBe('10.91005');
  });

  it('is described in the guide', () => {
    for (const [digits, { name }] of Object.entries(magicDeposits)) {
      expect(guide).toContain(`| \`${digits}\` | ${name}`);
    }
  });
});
