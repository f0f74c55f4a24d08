import { ed25519 } from '@noble/curves/ed25519.js';
import {
  AccountRole,
  type Address,
  addEncoderSizePrefix,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createAddressWithSeed,
  createKeyPairFromPrivateKeyBytes,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  getStructEncoder,
  getU8Encoder,
  getU32Encoder,
  getU64Encoder,
  getUtf8Encoder,
  type Instruction,
  isOffCurveAddress,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
} from '@solana/kit';
import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import {
  associatedAccount,
  isSolanaKey,
  markerAddress,
  markerSeed,
  programs,
  type SolanaToken,
  seedAddress,
  solanaKey,
} from '../../../src/chains/solana/solana-keys.ts';
import { compactU16, decodeMessage, encodeMessage } from '../../../src/chains/solana/solana-message.ts';
import {
  amountOf,
  decodePayload,
  decodeTx,
  encodePayload,
  encodeTx,
  mostSources,
  openSolanaTx,
  priorityFeeOf,
  reservationOf,
  type SolanaAction,
  type SolanaTx,
  signersOf,
  signSolanaTx,
  unsignedTx,
} from '../../../src/chains/solana/solana-tx.ts';

const keyOf = (seed: number) => {
  const privateKey = new Uint8Array(32);
  new DataView(privateKey.buffer).setUint32(0, seed + 1);
  return { privateKey, publicKey: ed25519.getPublicKey(privateKey) };
};
const addressOf = (seed: number): string => encodeSolana(keyOf(seed).publicKey);
const wallet = addressOf(1);
const owner = addressOf(2);
const to = addressOf(3);
const usdc: SolanaToken = { mint: addressOf(4), program: programs.token, decimals: 6 };
const usdt: SolanaToken = { mint: addressOf(5), program: programs.token2022, decimals: 6 };
const marker = { seed: markerSeed('payment', 0), rent: 650_240n };
const base = { wallet, blockhash: addressOf(6), computeLimit: 60_000, computePrice: 1_000n };
const kinds: Readonly<Record<string, SolanaTx>> = {
  'a payment of coins': { ...base, action: { kind: 'payment', marker, to, token: null, amount: 1n } },
  'a payment of a token': { ...base, action: { kind: 'payment', marker, to, token: usdc, amount: 2n ** 64n - 1n } },
  'a sweep of coins': { ...base, action: { kind: 'coin_sweep', owner, amount: 5n } },
  'a sweep of a token from two accounts': {
    ...base,
    action: {
      ...{ kind: 'token_sweep', owner, token: usdt },
      sources: [
        { account: associatedAccount(owner, usdt), amount: 7n, isClosed: true },
        { account: addressOf(9), amount: 8n, isClosed: false },
      ],
    },
  },
};
const all = Object.entries(kinds);

/** The same sequence of numbers in each run. */
function randomly(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomTx(random: (below: number) => number, addresses: readonly string[]): SolanaTx {
  const address = (): string => addresses[random(addresses.length)] ?? '';
  const amount = (): bigint => (BigInt(random(2 ** 32)) << 31n) + BigInt(random(2 ** 31)) + 1n;
  const token = {
    ...{ mint: address(), decimals: random(10) },
    program: random(2) === 0 ? programs.token : programs.token2022,
  };
  const sweeper = address();
  const actions: readonly (() => SolanaAction)[] = [
    () => ({ ...payment(), token: null }),
    () => ({ ...payment(), token }),
    () => ({ kind: 'coin_sweep', owner: sweeper, amount: amount() }),
    () => ({
      ...{ kind: 'token_sweep', owner: sweeper, token },
      sources: Array.from({ length: random(4) + 1 }, (_, index) => ({
        account: index === 0 ? associatedAccount(sweeper, token) : encodeSolana(keyOf(10_000 + index).publicKey),
        ...{ amount: amount(), isClosed: random(2) === 0 },
      })),
    }),
  ];
  const payment = () =>
    ({
      kind: 'payment',
      marker: { seed: markerSeed(String(random(2 ** 32)), random(3)), rent: amount() },
      ...{ to: address(), amount: amount() },
    }) as const;
  const action = actions[random(actions.length)]?.();
  if (action === undefined) throw new Error('there is no such kind');
  return {
    ...{ wallet, blockhash: address(), computeLimit: random(1_400_000), computePrice: amount() >> 40n, action },
  };
}

const accountOf = (address: string, role: AccountRole) => ({ address: address as Address, role });
const instruction = (program: string, accounts: Instruction['accounts'], data: ArrayLike<number>): Instruction => ({
  programAddress: program as Address,
  ...(accounts !== undefined && { accounts }),
  data: Uint8Array.from(data),
});
const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole;

/** Written with the library's own codecs and derivations. */
async function markerByKit(payer: string, { seed, rent }: typeof marker): Promise<Instruction> {
  const encoder = getStructEncoder([
    ['number', getU32Encoder()],
    ['base', getAddressEncoder()],
    ['seed', addEncoderSizePrefix(getUtf8Encoder(), getU64Encoder())],
    ['lamports', getU64Encoder()],
    ['space', getU64Encoder()],
    ['owner', getAddressEncoder()],
  ]);
  const made = await createAddressWithSeed({
    baseAddress: payer as Address,
    programAddress: programs.system as Address,
    seed,
  });
  return instruction(
    programs.system,
    [accountOf(payer, WRITABLE_SIGNER), accountOf(made, WRITABLE)],
    encoder.encode({
      ...{ number: 3, base: payer as Address, seed, lamports: rent, space: 0n },
      owner: programs.system as Address,
    }),
  );
}

async function associatedByKit(holder: string, { mint, program }: SolanaToken): Promise<string> {
  const seeds = [holder, program, mint].map((each) => getAddressEncoder().encode(each as Address));
  const [found] = await getProgramDerivedAddress({ programAddress: programs.associated as Address, seeds });
  return found;
}

const transferByKit = (from: string, recipient: string, amount: bigint): Instruction =>
  instruction(
    programs.system,
    [accountOf(from, WRITABLE_SIGNER), accountOf(recipient, WRITABLE)],
    getStructEncoder([
      ['number', getU32Encoder()],
      ['amount', getU64Encoder()],
    ]).encode({ number: 2, amount }),
  );

async function createByKit(payer: string, holder: string, token: SolanaToken): Promise<Instruction> {
  const roles = [
    accountOf(payer, WRITABLE_SIGNER),
    accountOf(await associatedByKit(holder, token), WRITABLE),
    ...[holder, token.mint, programs.system, token.program].map((each) => accountOf(each, READONLY)),
  ];
  return instruction(programs.associated, roles, [1]);
}

const checkedByKit = (token: SolanaToken, from: string, into: string, holder: string, amount: bigint): Instruction =>
  instruction(
    token.program,
    [accountOf(from, WRITABLE), accountOf(token.mint, READONLY), accountOf(into, WRITABLE)].concat(
      accountOf(holder, READONLY_SIGNER),
    ),
    getStructEncoder([
      ['number', getU8Encoder()],
      ['amount', getU64Encoder()],
      ['decimals', getU8Encoder()],
    ]).encode({ number: 12, amount, decimals: token.decimals }),
  );

async function instructionsByKit({ wallet: payer, computeLimit, computePrice, action }: SolanaTx) {
  const offer = [
    instruction(programs.budget, undefined, [2, ...getU32Encoder().encode(computeLimit)]),
    instruction(programs.budget, undefined, [3, ...getU64Encoder().encode(computePrice)]),
  ];
  if (action.kind === 'coin_sweep') return [...offer, transferByKit(action.owner, payer, action.amount)];
  if (action.kind === 'token_sweep') {
    const { token, sources } = action;
    const into = await associatedByKit(payer, token);
    return [
      ...offer,
      await createByKit(payer, payer, token),
      ...sources.map(({ account, amount }) => checkedByKit(token, account, into, action.owner, amount)),
      ...sources.flatMap(({ account, isClosed }) => {
        const roles = [
          accountOf(account, WRITABLE),
          accountOf(payer, WRITABLE),
          accountOf(action.owner, READONLY_SIGNER),
        ];
        return isClosed ? [instruction(token.program, roles, [9])] : [];
      }),
    ];
  }
  const first = [await markerByKit(payer, action.marker), ...offer];
  if (action.token === null) return [...first, transferByKit(payer, action.to, action.amount)];
  const from = await associatedByKit(payer, action.token);
  const into = await associatedByKit(action.to, action.token);
  return [
    ...first,
    await createByKit(payer, action.to, action.token),
    checkedByKit(action.token, from, into, payer, action.amount),
  ];
}

async function compileByKit(tx: SolanaTx) {
  const instructions = await instructionsByKit(tx);
  return compileTransaction(
    pipe(
      createTransactionMessage({ version: 'legacy' }),
      (message) => setTransactionMessageFeePayer(tx.wallet as Address, message),
      (message) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: tx.blockhash as Blockhash, lastValidBlockHeight: 1n },
          message,
        ),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  );
}

test('a thousand random payments and sweeps have the bytes of @solana/kit', async () => {
  const random = randomly(20_261_129);
  const addresses = Array.from({ length: 300 }, (_, index) => addressOf(100 + index));
  for (let count = 0; count < 1_000; count += 1) {
    const tx = randomTx(random, addresses);
    const { messageBytes } = await compileByKit(tx);
    expect(Buffer.from(encodeTx(tx)).toString('hex')).toBe(Buffer.from(messageBytes).toString('hex'));
    expect(decodeTx(encodeTx(tx))).toEqual(tx);
  }
});

test.each(all)('the signatures and the id of %s are those of @solana/kit', async (_name, tx) => {
  const keys = [keyOf(1), ...(tx.action.kind === 'payment' ? [] : [keyOf(2)])];
  const pairs = await Promise.all(keys.map(({ privateKey }) => createKeyPairFromPrivateKeyBytes(privateKey)));
  const signed = await signTransaction(pairs, await compileByKit(tx));
  expect(signSolanaTx(tx, keys)).toEqual({
    txid: getSignatureFromTransaction(signed),
    raw: getBase64EncodedWireTransaction(signed),
  });
});

test('which addresses are no points of the curve', () => {
  let points = 0;
  for (let index = 0; index < 200; index += 1) {
    const account = associatedAccount(addressOf(index), usdc);
    expect(isOffCurveAddress(account as Address)).toBe(true);
    if (!isOffCurveAddress(seedAddress(wallet, String(index), programs.system) as Address)) points += 1;
  }
  expect(points).toBeGreaterThan(50);
});

test.each(all)('%s is read from its bytes', (_name, tx) => {
  const keys = signersOf(tx).map((address) => (address === wallet ? keyOf(1) : keyOf(2)));
  const signed = signSolanaTx(tx, keys);
  expect(openSolanaTx(signed.raw)).toEqual({ txid: signed.txid, tx });
  const payload = { marker: tx.action.kind === 'payment' ? 0 : null, path: null, tx };
  expect(decodePayload(encodePayload(payload))).toEqual(payload);
});

test.each(all)('%s is refused when any of its bytes is another one', (_name, tx) => {
  const keys = signersOf(tx).map((address) => (address === wallet ? keyOf(1) : keyOf(2)));
  const signed = Buffer.from(signSolanaTx(tx, keys).raw, 'base64');
  for (let at = 0; at < signed.length; at += 1) {
    const changed = Buffer.from(signed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => openSolanaTx(changed.toString('base64'))).toThrow();
  }
  expect(() => openSolanaTx(Buffer.concat([signed, Buffer.from([0])]).toString('base64'))).toThrow();
  expect(() => openSolanaTx(signed.subarray(0, -1).toString('base64'))).toThrow();
  expect(() => openSolanaTx(unsignedTx(tx))).toThrow('a key did not sign it');
});

test('a message in another form is refused', () => {
  const tx = kinds['a payment of a token'];
  if (tx === undefined) throw new Error('there is no such kind');
  const message = decodeMessage(encodeTx(tx));
  const [marker, limit, price, create, move] = message.instructions;
  if (!marker || !limit || !price || !create || !move) throw new Error('it lacks an instruction');
  const forms = [
    [limit, price, marker, create, move],
    [marker, price, limit, create, move],
    [marker, limit, price, move, create],
    [marker, limit, price, create, move, move],
    [marker, limit, price, create],
    [marker, limit, price],
    [marker, limit],
    [marker, limit, price, { ...create, data: Uint8Array.of(0) }, move],
    [marker, limit, price, { ...create, accounts: create.accounts.slice(0, -1) }, move],
    [marker, limit, price, create, { ...move, program: programs.associated }],
    [{ ...marker, accounts: marker.accounts.toReversed() }, limit, price, create, move],
  ];
  for (const instructions of forms) {
    expect(() => decodeTx(encodeMessage({ ...message, instructions }))).toThrow();
  }
  expect(() => decodeTx(Uint8Array.of(0x80, ...encodeTx(tx)))).toThrow('it is of another version');
});

test('lengths', () => {
  expect([0, 1, 127, 128, 255, 16_383, 16_384, 65_535].map((each) => [...compactU16(each)])).toEqual([
    ...[[0], [1], [127], [128, 1], [255, 1], [255, 127], [128, 128, 1], [255, 255, 3]],
  ]);
  expect(() => compactU16(65_536)).toThrow(RangeError);
});

test('a text that is no address has no bytes', () => {
  for (const text of ['', wallet.slice(4), `${wallet}1`, wallet.replace(/^./, '0'), `${wallet} `]) {
    expect(isSolanaKey(text)).toBe(false);
    expect(() => solanaKey(text)).toThrow(RangeError);
  }
  expect(isSolanaKey(wallet)).toBe(true);
  expect(isSolanaKey(5)).toBe(false);
});

test('a marker is of one payment, one number and one wallet', () => {
  const seeds = [markerSeed('a', 0), markerSeed('a', 1), markerSeed('b', 0)];
  expect(new Set(seeds).size).toBe(3);
  expect(seeds.every((seed) => seed.length === 32)).toBe(true);
  expect(markerAddress(wallet, marker.seed)).not.toBe(markerAddress(owner, marker.seed));
  expect(() => seedAddress(wallet, 'x'.repeat(33), programs.system)).toThrow(RangeError);
});

test('the longest sweep fits into a transaction', () => {
  const sources = Array.from({ length: mostSources }, (_, index) => ({
    ...{ account: addressOf(50 + index), amount: 2n ** 60n, isClosed: true },
  }));
  const tx = { ...base, action: { kind: 'token_sweep', owner, token: usdt, sources } } as const;
  expect(openSolanaTx(signSolanaTx(tx, [keyOf(1), keyOf(2)]).raw).tx).toEqual(tx);
  const more = Array.from({ length: 20 }, (_, index) => ({
    account: addressOf(70 + index),
    amount: 1n,
    isClosed: true,
  }));
  const longer = { ...tx, action: { ...tx.action, sources: more } };
  expect(() => signSolanaTx(longer, [keyOf(1), keyOf(2)])).toThrow('at most 1232 bytes');
});

test('what a transaction reserves, moves and offers', () => {
  const found = Object.values(kinds).map((tx) => [reservationOf(tx), amountOf(tx.action), priorityFeeOf(tx)]);
  const made = `marker:${markerAddress(wallet, marker.seed)}`;
  expect(found).toEqual([
    [made, 1n, 60n],
    [made, 2n ** 64n - 1n, 60n],
    [`sweep:${owner}`, 5n, 60n],
    [`sweep:${owner}`, 15n, 60n],
  ]);
  expect(priorityFeeOf({ computeLimit: 1, computePrice: 1n })).toBe(1n);
  expect(priorityFeeOf({ computeLimit: 1_000_001, computePrice: 1n })).toBe(2n);
  expect(priorityFeeOf({ computeLimit: 5, computePrice: 0n })).toBe(0n);
});
