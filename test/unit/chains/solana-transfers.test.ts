import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import { readBlock } from '../../../src/chains/solana/solana-answer.ts';
import { programs, solanaKey } from '../../../src/chains/solana/solana-keys.ts';
import { encodeMessage, uint32, uint64 } from '../../../src/chains/solana/solana-message.ts';
import { transfersOf } from '../../../src/chains/solana/solana-transfers.ts';

const addressOf = (byte: number): string => encodeSolana(ed25519.getPublicKey(new Uint8Array(32).fill(byte)));
const [sender, owner, other, account, second, usdc, scam] = [1, 2, 3, 4, 5, 6, 7].map(addressOf) as string[];
const [ours, mint] = [owner ?? '', usdc ?? ''];
const txid = base58.encode(new Uint8Array(64).fill(9));
const mints = new Set([mint]);

interface TokenRow {
  readonly at: string;
  readonly mint?: string;
  readonly owner?: string | null;
  readonly amount: unknown;
  readonly uiAmount?: number;
}
interface Told {
  readonly err?: unknown;
  /** Balances of coins before and after. */
  readonly coins?: Readonly<Record<string, readonly [number | string, number | string]>>;
  readonly before?: readonly TokenRow[];
  readonly after?: readonly TokenRow[];
}

/** A transaction as a node tells it in a block. The sender pays the fee. */
function told({ err = null, coins = {}, before = [], after = [] }: Told, id = txid): object {
  const rows = [...before, ...after];
  const keys = [...new Set([sender ?? '', ...Object.keys(coins), ...rows.map(({ at }) => at)])];
  const balances = (place: 0 | 1) => keys.map((key) => coins[key]?.[place] ?? (key === sender ? 9_000 - place : 0));
  const tokens = (some: readonly TokenRow[]) =>
    some.map((row) => ({
      accountIndex: keys.indexOf(row.at),
      mint: row.mint ?? mint,
      ...(row.owner !== null && { owner: row.owner ?? ours }),
      uiTokenAmount: { amount: row.amount, decimals: 6, uiAmount: row.uiAmount ?? 0, uiAmountString: '0' },
    }));
  return {
    transaction: { signatures: [id], accountKeys: keys.map((pubkey) => ({ pubkey, signer: false, writable: true })) },
    meta: {
      ...{ err, fee: 1, preBalances: balances(0), postBalances: balances(1) },
      ...{ preTokenBalances: tokens(before), postTokenBalances: tokens(after) },
    },
    version: 1,
  };
}

const blockOf = (transactions: readonly unknown[]) =>
  readBlock(
    {
      ...{ blockhash: addressOf(20), previousBlockhash: addressOf(21), parentSlot: 7, blockHeight: 6 },
      ...{ blockTime: 1_790_083_456, transactions },
    },
    10,
  );
const found = (...txs: readonly Told[]) =>
  transfersOf(blockOf(txs.map((tx) => told(tx))), mints).map(({ address, contract, amount }) => [
    address,
    contract,
    amount,
  ]);

const cases: readonly (readonly [name: string, tx: Told, expected: readonly unknown[]])[] = [
  ['coins that arrive', { coins: { [ours]: [5, 12] } }, [[ours, null, 7n]]],
  ['the first coins of an address', { coins: { [ours]: [0, 1_000_000] } }, [[ours, null, 1_000_000n]]],
  ['coins that leave', { coins: { [ours]: [12, 5] } }, []],
  ['coins in a transaction that failed', { err: { InstructionError: [0, 'Custom'] }, coins: { [ours]: [0, 7] } }, []],
  ['a token in a transaction that failed', { err: 'AccountInUse', after: [{ at: account ?? '', amount: '5' }] }, []],
  [
    'a token to a new account, whose rent is no deposit of coins',
    { coins: { [account ?? '']: [0, 1_488_440] }, after: [{ at: account ?? '', amount: '3800000' }] },
    [
      [account, null, 1_488_440n],
      [ours, mint, 3_800_000n],
    ],
  ],
  [
    'a token to an account of ours that is not the associated one',
    { before: [{ at: second ?? '', amount: '5' }], after: [{ at: second ?? '', amount: '8' }] },
    [[ours, mint, 3n]],
  ],
  [
    'a token that moves between two accounts of one owner',
    {
      before: [{ at: account ?? '', amount: '5' }],
      after: [{ at: second ?? '', amount: '5' }],
    },
    [],
  ],
  [
    'a token to two accounts of one owner',
    {
      before: [{ at: account ?? '', amount: '5' }],
      after: [
        { at: account ?? '', amount: '6' },
        { at: second ?? '', amount: '2' },
      ],
    },
    [[ours, mint, 3n]],
  ],
  [
    'an account of a token that is opened and closed within one transaction',
    { before: [{ at: account ?? '', amount: '5' }], after: [] },
    [],
  ],
  [
    'a token whose mint kept a fee: the increase counts',
    {
      before: [{ at: second ?? '', owner: other ?? '', amount: '100' }],
      after: [
        { at: second ?? '', owner: other ?? '', amount: '0' },
        { at: account ?? '', amount: '98' },
      ],
    },
    [[ours, mint, 98n]],
  ],
  [
    'a token of the same name, and wrapped coins',
    { after: [{ at: account ?? '', mint: scam ?? '', amount: '9' }] },
    [],
  ],
  [
    'a shown amount that differs from the amount',
    { after: [{ at: account ?? '', amount: '1', uiAmount: 1_000_000 }] },
    [[ours, mint, 1n]],
  ],
  ['nothing that arrives', { coins: { [ours]: [5, 5] }, after: [{ at: account ?? '', amount: '0' }] }, []],
  [
    'amounts above 2^53',
    { coins: { [ours]: ['9007199254740993', '18446744073709551615'] } },
    [[ours, null, 18_437_736_874_454_810_622n]],
  ],
  [
    'an owner that changes: what the old one had is no deposit of it',
    {
      before: [{ at: account ?? '', owner: other ?? '', amount: '5' }],
      after: [{ at: account ?? '', amount: '5' }],
    },
    [[ours, mint, 5n]],
  ],
];

test.each(cases)('%s', (_name, tx, expected) => {
  expect(found(tx)).toEqual(expected);
});

test('a transaction brings coins and tokens to several addresses, each with its own key', () => {
  const tx = { coins: { [ours]: [0, 5], [other ?? '']: [0, 6] }, after: [{ at: account ?? '', amount: '7' }] } as const;
  const transfers = transfersOf(blockOf([told(tx)]), mints);
  expect(transfers.map(({ key }) => key)).toEqual([
    ...[`${txid}:${ours}`, `${txid}:${other}`, `${txid}:${ours}:${mint}`],
  ]);
  expect(transfers.every((transfer) => transfer.txid === txid && transfer.tag === null)).toBe(true);
});

test('a listed token without its owner is a fault, and another one is left out', () => {
  expect(() => found({ after: [{ at: account ?? '', owner: null, amount: '5' }] })).toThrow('without its owner');
  expect(found({ after: [{ at: account ?? '', mint: scam ?? '', owner: null, amount: '5' }] })).toEqual([]);
});

describe('answers that are refused', () => {
  const good = told({ coins: { [ours]: [0, 5] }, after: [{ at: account ?? '', amount: '7' }] }) as {
    transaction: { signatures: unknown; accountKeys: { pubkey: string }[] };
    meta: Record<string, unknown>;
  };
  const { transaction, meta } = good;
  const bad: readonly (readonly [string, unknown])[] = [
    ['no transaction', null],
    ['no result', { ...good, meta: null }],
    ['no error member', { ...good, meta: { ...meta, err: undefined } }],
    ['a fee below 0', { ...good, meta: { ...meta, fee: -1 } }],
    ['a fraction of a lamport', { ...good, meta: { ...meta, postBalances: [0.5, 1, 1] } }],
    ['an amount beyond 64 bits', { ...good, meta: { ...meta, postBalances: ['18446744073709551616', 1, 1] } }],
    ['an amount in another notation', { ...good, meta: { ...meta, postBalances: ['1e3', 1, 1] } }],
    ['fewer balances than accounts', { ...good, meta: { ...meta, preBalances: [1] } }],
    ['more balances than accounts', { ...good, meta: { ...meta, postBalances: [1, 1, 1, 1] } }],
    ['no balances of tokens', { ...good, meta: { ...meta, preTokenBalances: null } }],
    ['no id', { ...good, transaction: { ...transaction, signatures: [] } }],
    ['an id that is no signature', { ...good, transaction: { ...transaction, signatures: ['0'.repeat(88)] } }],
    ['no accounts', { ...good, transaction: { ...transaction, accountKeys: [] } }],
    [
      'an account twice',
      { ...good, transaction: { ...transaction, accountKeys: transaction.accountKeys.map(() => ({ pubkey: ours })) } },
    ],
    ['an amount of a token as a number', told({ after: [{ at: account ?? '', amount: 7 }] })],
    ['an amount of a token with a sign', told({ after: [{ at: account ?? '', amount: '-7' }] })],
    [
      'a token account twice',
      told({
        after: [
          { at: account ?? '', amount: '7' },
          { at: account ?? '', amount: '7' },
        ],
      }),
    ],
  ];

  test.each(bad)('%s', (_name, tx) => {
    expect(() => blockOf([tx])).toThrow(/^the node answered /);
  });

  test('a token account that the transaction does not name', () => {
    const balances = [{ accountIndex: 9, mint, owner: ours, uiTokenAmount: { amount: '1' } }];
    expect(() => blockOf([{ ...good, meta: { ...meta, postTokenBalances: balances } }])).toThrow('does not name');
  });

  test('a transaction twice', () => {
    expect(() => blockOf([good, good])).toThrow('a transaction twice');
  });
});

interface Recorded {
  readonly source: string;
  readonly licence: string;
  readonly transaction: { readonly signatures: readonly string[]; readonly accountKeys: readonly { pubkey: string }[] };
  readonly meta: { readonly fee: number };
  readonly recentBlockhash?: string;
  readonly instructions?: readonly { parsed: { info: { source: string; destination: string; lamports: number } } }[];
}

const recorded = JSON.parse(
  readFileSync(new URL('../../fixtures/solana/transactions.json', import.meta.url), 'utf8'),
) as Recorded[];

test('what recorded transactions bring', () => {
  const tokens = new Set([
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'So11111111111111111111111111111111111111112',
  ]);
  const brought = recorded.map((tx) =>
    transfersOf(blockOf([tx]), tokens).map(({ address, contract, amount }) => [
      address.slice(0, 4),
      contract?.slice(0, 4) ?? null,
      amount,
    ]),
  );
  expect(brought).toEqual([
    [
      ['CSMd', null, 50_000_000n],
      ['GQaA', null, 100_000_000n],
    ],
    [['8KEe', null, 100_000_000n]],
    [
      ['2sWE', null, 1_148_400n],
      ['CXir', null, 1_000_000n],
    ],
    [['6S1V', null, 50_000_000n]],
    [
      ['9AcR', null, 105_673_070n],
      ['Ah6u', null, 30_923_508_650n],
    ],
    [['3eF3', null, 24_922_118n]],
    [['B2v6', 'EPjF', 3_800_000n]],
  ]);
  expect(recorded.every(({ source, licence }) => source.includes('explorer') && licence === 'MIT')).toBe(true);
});

test('the signature of a recorded payment is valid for the bytes that follow from it', () => {
  const plain = recorded.filter(({ instructions }) => instructions !== undefined);
  expect(plain).toHaveLength(1);
  for (const { transaction, recentBlockhash = '', instructions = [] } of plain) {
    const payer = transaction.accountKeys[0]?.pubkey ?? '';
    const bytes = encodeMessage({
      ...{ payer, blockhash: recentBlockhash },
      instructions: instructions.map(({ parsed: { info } }) => ({
        program: programs.system,
        accounts: [
          { address: info.source, isSigner: true, isWritable: true },
          { address: info.destination, isSigner: false, isWritable: true },
        ],
        data: concatBytes(uint32(2), uint64(BigInt(info.lamports))),
      })),
    });
    const signature = base58.decode(transaction.signatures[0] ?? '');
    expect(ed25519.verify(signature, bytes, solanaKey(payer))).toBe(true);
  }
});
