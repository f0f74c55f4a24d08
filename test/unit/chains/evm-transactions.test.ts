import fc from 'fast-check';
import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';
import { transferCall } from '../../../src/chains/evm/erc20.ts';
import { EvmTransactions } from '../../../src/chains/evm/evm-transactions.ts';
import { decodePayload, type EvmTx, encodePayload, openEvmTx } from '../../../src/chains/evm/evm-tx.ts';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const network = { chain: 'ethereum', chainId: 1, maxFeePerGas: 1_000n, maxPaymentGas: 60_000n, maxTokenGas: 500_000n };
const signer = new EvmTransactions({ network, keys });
const hot = signer.hotWallet();
const deposit = await deriveDepositAddress('ETH', keys.accountXpub('ETH'), 5);
const hotPath = "m/44'/60'/1'/0/0";
const depositPath = "m/44'/60'/0'/0/5";
const to = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const token = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const thief = '0x000000000000000000000000000000000000bEEF';

const plain: EvmTx = {
  chainId: 1,
  nonce: 9,
  maxPriorityFeePerGas: 2n,
  maxFeePerGas: 100n,
  gas: 21_000n,
  to: to.toLowerCase(),
  value: 5_000_000n,
  data: '0x',
};
const intent: PaymentIntent = {
  id: 'one',
  attempt: 1,
  from: null,
  contract: null,
  to,
  tag: null,
  amount: 5_000_000n,
};

/** A payment with its transaction; both can be changed apart from each other. */
interface Case {
  readonly intent: PaymentIntent;
  readonly path: string;
  readonly tx: EvmTx;
  readonly fee: bigint;
  readonly reserves: readonly string[];
  readonly expiresAt: Expiry | null;
  readonly chain: string;
}

const ofHot = { path: hotPath, fee: 2_100_000n, reserves: [`nonce:${hot}:9`], expiresAt: null, chain: 'ethereum' };
const ofDeposit = { ...ofHot, path: depositPath, reserves: [`nonce:${deposit}:9`] };
const cases: Record<string, Case> = {
  'a payment of coins': { ...ofHot, intent, tx: plain },
  'a payment of tokens': {
    ...ofHot,
    intent: { ...intent, contract: token },
    tx: { ...plain, gas: 60_000n, to: token.toLowerCase(), value: 0n, data: transferCall(to, 5_000_000n) },
    fee: 6_000_000n,
  },
  'a sweep of coins': {
    ...ofDeposit,
    intent: { ...intent, from: [deposit], to: hot },
    tx: { ...plain, to: hot.toLowerCase(), value: 5_000_000n - 2_100_000n },
  },
  'a sweep of tokens': {
    ...ofDeposit,
    intent: { ...intent, from: [deposit], to: hot, contract: token },
    tx: { ...plain, gas: 60_000n, to: token.toLowerCase(), value: 0n, data: transferCall(hot, 5_000_000n) },
    fee: 6_000_000n,
  },
};

function prepared({ path, tx, fee, reserves, expiresAt }: Case): PreparedTx {
  return { payload: encodePayload({ path, tx }), reserves, fee, expiresAt };
}

function faultsOf(one: Case): readonly string[] {
  return signer.open(one.chain, one.intent, prepared(one)).faults;
}

describe('EvmTransactions', () => {
  it('pays from an address that is no deposit address', () => {
    expect(hot).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(hot).not.toBe(deposit);
  });

  it('knows its hot wallet in either case, and with the right checksum in mixed case', () => {
    const digits = hot.slice(2);
    const swapped = digits.replace(/[a-f]/, (digit) => digit.toUpperCase());
    for (const [address, isHome] of [
      [hot, true],
      [hot.toLowerCase(), true],
      [`0x${digits.toUpperCase()}`, true],
      [`0x${swapped}`, false],
      [`0X${digits}`, false],
      [digits, false],
      [`${hot} `, false],
      [deposit, false],
      ['', false],
    ] as const) {
      expect([address, signer.isHotWallet('ethereum', address)]).toEqual([address, isHome]);
    }
  });

  it('refuses chains that are not EVM chains', () => {
    expect(() => new EvmTransactions({ network: { ...network, chain: 'bitcoin' }, keys })).toThrow(/bitcoin/);
    expect(() => new EvmTransactions({ network: { ...network, chain: 'nowhere' }, keys })).toThrow(/nowhere/);
  });

  describe.each(Object.entries(cases))('%s', (_name, sound) => {
    it('is signed by its sender, always to the same bytes', () => {
      const tx = prepared(sound);
      const { faults, sign } = signer.open('ethereum', sound.intent, tx);
      expect(faults).toEqual([]);
      const { txid, raw } = sign();
      expect(signer.open('ethereum', { ...sound.intent, attempt: 2 }, tx).sign()).toEqual({ txid, raw });
      expect(openEvmTx(raw)).toEqual({ txid, sender: sound.intent.from?.[0] ?? hot, tx: sound.tx });
    });

    it('is refused when any member differs from the decided payment', () => {
      const changed = (changes: Partial<EvmTx>): Case => ({ ...sound, tx: { ...sound.tx, ...changes } });
      const meant = (changes: Partial<PaymentIntent>): Case => ({ ...sound, intent: { ...sound.intent, ...changes } });
      const isSweep = sound.intent.from !== null;
      const wrong: Record<string, Case> = {
        'another chain': { ...sound, chain: 'bsc' },
        'another chain id': changed({ chainId: 56 }),
        'another nonce': changed({ nonce: 10 }),
        'another recipient': changed({ to: thief.toLowerCase() }),
        'more coins': changed({ value: sound.tx.value + 1n }),
        'fewer coins': changed({ value: sound.tx.value - (sound.tx.value > 0n ? 1n : -1n) }),
        'other data': changed({ data: transferCall(thief, 5_000_000n) }),
        'data that goes on': changed({ data: `${transferCall(sound.intent.to, 5_000_000n)}00` }),
        'another method': changed({ data: `0x095ea7b3${transferCall(sound.intent.to, 5_000_000n).slice(10)}` }),
        'dearer gas': changed({ maxFeePerGas: 101n }),
        'cheaper gas': changed({ maxFeePerGas: 99n }),
        'more gas': changed({ gas: sound.tx.gas + 1n }),
        'gas above all bounds': { ...changed({ gas: 2_000_001n }), fee: 200_000_100n },
        'gas that is too little': { ...changed({ gas: 20_999n }), fee: 2_099_900n },
        'a price above the maximum': { ...changed({ maxFeePerGas: 1_001n }), fee: sound.tx.gas * 1_001n },
        'another fee': { ...sound, fee: sound.fee + 1n },
        'no reservation': { ...sound, reserves: [] },
        'another reservation': { ...sound, reserves: [`nonce:${thief}:9`] },
        'a reservation of another nonce': { ...sound, reserves: [(sound.reserves[0] ?? '').replace(/9$/, '8')] },
        'two reservations': { ...sound, reserves: [...sound.reserves, 'nonce:x:1'] },
        'an end': { ...sound, expiresAt: { height: 100 } },
        'another key': { ...sound, path: isSweep ? hotPath : depositPath },
        'the key of another deposit': { ...sound, path: "m/44'/60'/0'/0/6" },
        'a key of another account': { ...sound, path: "m/44'/60'/2'/0/0" },
        'a key of no path': { ...sound, path: 'm' },
        'a key with an index of another form': { ...sound, path: "m/44'/60'/0'/0/05" },
        'a hardened index': { ...sound, path: "m/44'/60'/0'/0/2147483653" },
        'a tag': meant({ tag: '7' }),
        'another amount': meant({ amount: 5_000_001n }),
        'another recipient meant': meant({ to: thief }),
        'no address meant': meant({ to: 'no address' }),
        'another token meant': meant({ contract: thief }),
        'coins meant instead, or tokens': meant({ contract: sound.intent.contract === null ? token : null }),
        'another sender meant': meant({ from: [deposit === sound.intent.from?.[0] ? thief : deposit] }),
        'no sender meant': meant({ from: [] }),
        'two senders meant': meant({ from: [deposit, deposit] }),
        'the hot wallet as a deposit': meant({ from: [hot] }),
      };
      const accepted = Object.entries(wrong).filter(([, one]) => faultsOf(one).length === 0);
      expect(accepted.map(([name]) => name)).toEqual([]);
    });

    it('with any changed byte is refused, or signs to the same bytes', () => {
      const { payload } = prepared(sound);
      const { path, tx } = JSON.parse(payload) as { path: string; tx: string };
      const bytes = (tx.length - 2) / 2;
      fc.assert(
        fc.property(fc.nat(bytes - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
          const at = 2 + 2 * place;
          const byte = (Number.parseInt(tx.slice(at, at + 2), 16) ^ change).toString(16).padStart(2, '0');
          const other = JSON.stringify({ path, tx: tx.slice(0, at) + byte + tx.slice(at + 2) });
          const faults = (() => {
            try {
              return signer.open('ethereum', sound.intent, { ...prepared(sound), payload: other }).faults;
            } catch (error) {
              if (error instanceof SignerError && error.code === 'refused') return ['no transaction'];
              throw error;
            }
          })();
          // Of a payment's tip nothing was decided but that the price bounds it.
          const onlyTip = faults.length === 0 && {
            ...decodePayload(other).tx,
            maxPriorityFeePerGas: sound.tx.maxPriorityFeePerGas,
          };
          if (faults.length === 0) expect(onlyTip).toEqual(sound.tx);
        }),
        { numRuns: 200 },
      );
    });
  });

  it('refuses a sweep whose amount does not cover its fee', () => {
    const sweep = cases['a sweep of coins'];
    if (!sweep) throw new Error('no sweep');
    const small = { ...sweep, intent: { ...sweep.intent, amount: sweep.fee }, tx: { ...sweep.tx, value: 0n } };
    expect(faultsOf(small)).toEqual(['the amount of the sweep does not cover its fee']);
  });

  it('includes the layer 1 fee on rollups', () => {
    const rollup = new EvmTransactions({ network: { ...network, chain: 'optimism', chainId: 10 }, keys });
    const tx = { ...plain, chainId: 10 };
    const faults = (fee: bigint) =>
      rollup.open('optimism', intent, { ...ofHot, fee, payload: encodePayload({ path: hotPath, tx }) }).faults;
    expect(faults(2_100_000n)).toEqual([]);
    expect(faults(2_100_777n)).toEqual([]);
    expect(faults(2_099_999n)).toEqual(['the fee of the transaction is not the one stated']);
  });

  it.each([
    ['no text of a payload', 'nonsense'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no members', '{}'],
    ['no transaction', JSON.stringify({ path: hotPath, tx: '0x02' })],
    ['another type of transaction', JSON.stringify({ path: hotPath, tx: '0x01c0' })],
    ['an old transaction', JSON.stringify({ path: hotPath, tx: '0xc0' })],
    [
      'members in another order',
      JSON.stringify({ tx: JSON.parse(encodePayload({ path: hotPath, tx: plain })).tx, path: hotPath }),
    ],
    ['upper case', encodePayload({ path: hotPath, tx: plain }).replace('5aaeb6', '5AAEB6')],
    ['a space', `${encodePayload({ path: hotPath, tx: plain })} `],
  ])('refuses %s', (_what, payload) => {
    const open = () => signer.open('ethereum', intent, { ...ofHot, payload });
    expect(open).toThrow(SignerError);
    expect(open).toThrow('the payload is not an EVM transaction');
  });

  it('refuses signed bytes, contracts being made, and lists of accesses', () => {
    const { raw } = signer.open('ethereum', intent, prepared(cases['a payment of coins'] as Case)).sign();
    const made = '0x02d8010902648252088084004c4b4080c0';
    const listed =
      '0x02f83d0109026482520894000000000000000000000000000000000000beef8080d7d694000000000000000000000000000000000000beefc0';
    for (const tx of [raw, made, listed]) {
      const payload = JSON.stringify({ path: hotPath, tx });
      expect(() => signer.open('ethereum', intent, { ...ofHot, payload })).toThrow(SignerError);
    }
  });
});
