import { base64, hex } from '@scure/base';
import { OutScript, RawTx, SigHash, Transaction, WIF } from '@scure/btc-signer';
import { depositPath, hotWalletPath, networkOfChain } from '../../../src/chains/networks/networks.ts';
import { utxoParams } from '../../../src/chains/networks/utxo-params.ts';
import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import {
  decodePsbt,
  encodePsbt,
  keysOf,
  totalOf,
  type UnsignedInput,
  type UnsignedTx,
  unsignedTransaction,
} from '../../../src/chains/utxo/utxo-psbt.ts';
import { dustLimit, feeOf, ownAddress, scriptOfAddress, virtualSize } from '../../../src/chains/utxo/utxo-script.ts';
import { UtxoTransactions } from '../../../src/chains/utxo/utxo-transactions.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const stranger = new SignerKeys(new Uint8Array(32).fill(8));

/**
 * The description of a transaction in addition to its bytes, and the bytes as what they are made
 * of.
 */
interface Case {
  readonly chain: string;
  readonly intent: PaymentIntent;
  readonly tx: UnsignedTx;
  readonly told: Partial<PreparedTx>;
}

function pathsOf(chain: string): { hot: string; deposit(index: number): string } {
  const network = networkOfChain(chain);
  if (!network) throw new Error(chain);
  return { hot: hotWalletPath(network), deposit: (index) => depositPath(network, index) };
}

function addressAt(chain: string, path: string, of: SignerKeys = keys): { address: string; script: Uint8Array } {
  return ownAddress(utxoParams(chain, 'main'), of.secp256k1(path).publicKey);
}

function inputAt(chain: string, path: string, amount: bigint, seed: number, of: SignerKeys = keys): UnsignedInput {
  const { script } = addressAt(chain, path, of);
  if (chain !== 'dogecoin') {
    return {
      outpoint: { txid: hex.encode(new Uint8Array(32).fill(seed)), vout: seed },
      amount,
      script,
      path,
      previous: null,
    };
  }
  const previous = new Transaction({ allowUnknownOutputs: true, allowUnknownInputs: true, disableScriptCheck: true });
  previous.addOutput({ script, amount });
  previous.addInput({
    txid: hex.encode(new Uint8Array(32).fill(seed)),
    index: 0,
    finalScriptSig: new Uint8Array([0x51]),
  });
  return {
    outpoint: { txid: previous.id, vout: 0 },
    amount,
    script,
    path,
    previous: previous.toBytes(true, false),
  };
}

const feeCeiling = 100_000_000n;
const signerOf = (chain: string, ceiling = feeCeiling) =>
  new UtxoTransactions({ network: { chain, net: 'main', feeCeiling: ceiling }, keys });

/** Pays 70,000,000 out of 100,000,000 to a recipient. */
function payment(chain: string): Case {
  const { hot } = pathsOf(chain);
  const recipient = addressAt(chain, hot, stranger);
  const inputs = [inputAt(chain, hot, 60_000_000n, 1), inputAt(chain, hot, 40_000_000n, 2)];
  const outputs = [
    { script: recipient.script, amount: 70_000_000n },
    { script: addressAt(chain, hot).script, amount: 29_000_000n },
  ];
  const intent = {
    id: 'p',
    attempt: 1,
    from: null,
    contract: null,
    to: recipient.address,
    tag: null,
    amount: 70_000_000n,
  };
  return { chain, intent, tx: { inputs, outputs, isReplaceable: true }, told: {} };
}

/** Brings two deposits and an output of the hot wallet to the hot wallet. */
function sweep(chain: string): Case {
  const { hot, deposit } = pathsOf(chain);
  const own = addressAt(chain, hot);
  const inputs = [
    inputAt(chain, deposit(1), 60_000_000n, 1),
    inputAt(chain, deposit(7), 40_000_000n, 2),
    inputAt(chain, hot, 1_000_000n, 3),
  ];
  const tx = { inputs, outputs: [{ script: own.script, amount: 100_500_000n }], isReplaceable: false };
  const intent = {
    id: 's',
    attempt: 1,
    from: keysOf(tx),
    contract: null,
    to: own.address,
    tag: null,
    amount: 101_000_000n,
  };
  return { chain, intent, tx, told: {} };
}

function preparedOf({ tx, told }: Case): PreparedTx {
  return {
    payload: encodePsbt(tx),
    reserves: keysOf(tx).map((key) => `outpoint:${key}`),
    fee: totalOf(tx.inputs) - totalOf(tx.outputs),
    expiresAt: null,
    ...told,
  };
}

const faultsOf = (one: Case, ceiling?: bigint): readonly string[] =>
  signerOf(one.chain, ceiling).open(one.chain, one.intent, preparedOf(one)).faults;

const chains = ['bitcoin', 'litecoin', 'dogecoin'];

describe.each(chains)('the signer of %s', (chain) => {
  const { hot, deposit } = pathsOf(chain);

  it.each([
    ['payment', payment],
    ['sweep', sweep],
  ] as const)('signs a sound %s, always to the same bytes', (_name, make) => {
    const sound = make(chain);
    const open = () => signerOf(chain).open(chain, sound.intent, preparedOf(sound));
    expect(open().faults).toEqual([]);
    const { txid, raw } = open().sign();
    expect(open().sign()).toEqual({ txid, raw });

    const signed = Transaction.fromRaw(hex.decode(raw));
    expect(signed.id).toBe(txid);
    const parsed = RawTx.decode(hex.decode(raw));
    expect(parsed).toMatchObject({ version: 2, lockTime: 0 });
    expect(parsed.inputs.map(({ txid: id, index }) => `${hex.encode(id)}:${index}`).sort()).toEqual(
      keysOf(sound.tx).sort(),
    );
    expect(parsed.outputs.map(({ amount }) => amount).sort()).toEqual(
      sound.tx.outputs.map(({ amount }) => amount).sort(),
    );
    expect(parsed.inputs.map(({ sequence }) => sequence)).toEqual(
      sound.tx.inputs.map(() => (sound.tx.isReplaceable ? 0xfffffffd : 0xffffffff)),
    );
    // What was reckoned with is at most a few bytes above what it is: signatures may be a little
    // shorter.
    const reckoned = virtualSize(
      chain === 'dogecoin' ? 'p2pkh' : 'p2wpkh',
      sound.tx.inputs.length,
      sound.tx.outputs.map(({ script }) => script),
    );
    expect(signed.vsize).toBeLessThanOrEqual(reckoned);
    expect(signed.vsize).toBeGreaterThan(reckoned - 3 * sound.tx.inputs.length - 1);
  });

  it('knows its hot wallet: bech32 in either case, base58 in no other case', () => {
    const signer = signerOf(chain);
    const home = signer.hotWallet(chain);
    const isBech32 = chain !== 'dogecoin';
    const oneCapital = home.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
    for (const [address, isHome] of [
      [home, true],
      [home.toUpperCase(), isBech32],
      [home.toLowerCase(), isBech32],
      [oneCapital, false],
      [addressAt(chain, deposit(1)).address, false],
      [`${home} `, false],
      ['', false],
    ] as const) {
      expect([address, signer.isHotWallet(chain, address)]).toEqual([address, isHome]);
    }
    expect(() => signer.isHotWallet('monero', home)).toThrow('monero');
  });

  it('keeps every member of its payload', () => {
    for (const { tx } of [payment(chain), sweep(chain)]) {
      const decoded = decodePsbt(encodePsbt(tx));
      expect(decoded.isReplaceable).toBe(tx.isReplaceable);
      expect(new Set(decoded.inputs.map(({ path, amount }) => `${path} ${amount}`))).toEqual(
        new Set(tx.inputs.map(({ path, amount }) => `${path} ${amount}`)),
      );
    }
  });

  const changed = (one: Case, changes: Partial<Case>): Case => ({ ...one, ...changes });
  const withIntent = (one: Case, changes: Partial<PaymentIntent>) =>
    changed(one, { intent: { ...one.intent, ...changes } });
  const withTold = (one: Case, told: Partial<PreparedTx>) => changed(one, { told });
  const withTx = (one: Case, changes: Partial<UnsignedTx>) => changed(one, { tx: { ...one.tx, ...changes } });
  const [good, goodSweep] = [payment(chain), sweep(chain)];
  const elsewhere = addressAt(chain, deposit(5), stranger);
  const [to, change] = good.tx.outputs;
  const [first, second] = good.tx.inputs;
  if (!to || !change || !first || !second) throw new Error('incomplete');
  const [swept, sweptToo, ownInput] = goodSweep.tx.inputs;
  if (!swept || !sweptToo || !ownInput) throw new Error('incomplete');

  const wrong: Record<string, [Case, string]> = {
    'another recipient': [withIntent(good, { to: elsewhere.address }), 'recipient'],
    'another amount': [withIntent(good, { amount: 70_000_001n }), 'amount'],
    'a token': [withIntent(good, { contract: '0x' }), 'contract'],
    'a tag': [withIntent(good, { tag: '1' }), 'tag'],
    'no address': [withIntent(good, { to: 'nonsense' }), 'recipient (to)'],
    'an address of Ethereum': [
      withIntent(good, { to: '0x52908400098527886E0F7030069857D2E4169EE7' }),
      'recipient (to)',
    ],
    'a fee that is not its own': [withTold(good, { fee: 999_999n }), 'fee'],
    'a reserve too few': [withTold(good, { reserves: [`outpoint:${keysOf(good.tx)[0]}`] }), 'reserves'],
    'a reserve too many': [
      withTold(good, {
        reserves: [...keysOf(good.tx).map((key) => `outpoint:${key}`), `outpoint:${'0'.repeat(64)}:0`],
      }),
      'reserves',
    ],
    'a reserve twice': [
      withTold(good, { reserves: keysOf(good.tx).map(() => `outpoint:${keysOf(good.tx)[0]}`) }),
      'reserves',
    ],
    'an end': [withTold(good, { expiresAt: { height: 100 } }), 'expires'],
    'change to another address': [
      withTx(good, { outputs: [to, { ...change, script: elsewhere.script }] }),
      'an address other than',
    ],
    'change to a deposit address of ours': [
      withTx(good, { outputs: [to, { ...change, script: addressAt(chain, deposit(1)).script }] }),
      'an address other than',
    ],
    'a third output to another address': [
      withTx(good, {
        outputs: [to, { ...change, amount: 28_000_000n }, { script: elsewhere.script, amount: 1_000_000n }],
      }),
      'an address other than',
    ],
    'the payment twice': [
      withTx(
        { ...good, intent: { ...good.intent, amount: 30_000_000n } },
        { outputs: [{ ...to, amount: 30_000_000n }, { ...to, amount: 30_000_000n }, change] },
      ),
      'an address other than',
    ],
    'an input of a deposit address in a payment': [
      withTx(good, { inputs: [first, inputAt(chain, deposit(1), 40_000_000n, 2)] }),
      'path',
    ],
    'an input of another path': [withTx(good, { inputs: [first, inputAt(chain, "m/0'/0", 40_000_000n, 2)] }), 'path'],
    'an input of a stranger at our path': [
      withTx(good, { inputs: [first, inputAt(chain, hot, 40_000_000n, 2, stranger)] }),
      'path',
    ],
    'no fee': [withTx(good, { outputs: [to, { ...change, amount: 30_000_000n }] }), 'fee'],
    'more than it spends': [withTx(good, { outputs: [to, { ...change, amount: 31_000_000n }] }), 'fee'],
    'a sweep to another address': [
      withTx(withIntent(goodSweep, { to: elsewhere.address }), {
        outputs: [{ script: elsewhere.script, amount: 100_500_000n }],
      }),
      'hot wallet',
    ],
    'a sweep that pays on the side': [
      withTx(goodSweep, {
        outputs: [
          ...goodSweep.tx.outputs.map((output) => ({ ...output, amount: 100_000_000n })),
          { script: elsewhere.script, amount: 500_000n },
        ],
      }),
      'an address other than',
    ],
    'a sweep of more than it names': [withIntent(goodSweep, { from: keysOf(goodSweep.tx).slice(1) }), 'names'],
    'a sweep of less than it names': [
      withTx(withIntent(goodSweep, { amount: 41_000_000n }), {
        inputs: [sweptToo, ownInput],
        outputs: goodSweep.tx.outputs.map((output) => ({ ...output, amount: 40_500_000n })),
      }),
      'names',
    ],
    'a sweep of nothing named': [withIntent(goodSweep, { from: [] }), 'names'],
    'a sweep of another amount': [withIntent(goodSweep, { amount: 100_500_000n }), 'amount'],
    'a sweep from no path of deposits': [
      withTx(goodSweep, { inputs: [{ ...swept, path: `${deposit(1)}'` }, sweptToo, ownInput] }),
      'path',
    ],
    'a sweep with a path written another way': [
      withTx(goodSweep, { inputs: [{ ...swept, path: deposit(1).replace(/1$/, '01') }, sweptToo, ownInput] }),
      'path',
    ],
    'a sweep with a path of another deposit': [
      withTx(goodSweep, { inputs: [{ ...swept, path: deposit(2) }, sweptToo, ownInput] }),
      'path',
    ],
  };

  it.each(Object.entries(wrong))('refuses %s', (_name, [one, word]) => {
    const faults = faultsOf(one);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join('; ')).toContain(word);
  });

  it('refuses a fee above the ceiling, and no lower one', () => {
    const size = virtualSize(chain === 'dogecoin' ? 'p2pkh' : 'p2wpkh', 2, [to.script, change.script, change.script]);
    const dust = dustLimit(utxoParams(chain, 'main'), change.script);
    const rate = 2_000_000n;
    const most = feeOf(rate, size) + dust;
    const paying = (fee: bigint) => withTx(good, { outputs: [to, { ...change, amount: 30_000_000n - fee }] });
    expect(faultsOf(paying(most), rate)).toEqual([]);
    expect(faultsOf(paying(most + 1n), rate)).toEqual(['the fee of the transaction is above what the settings allow']);
  });

  it('serves no other chain', () => {
    const signer = signerOf(chain);
    const other = chains.find((name) => name !== chain) ?? '';
    expect(signer.open(other, good.intent, preparedOf(good)).faults).toContain(
      'the chain of the transaction is not the one asked for',
    );
    expect(() => signer.hotWallet(other)).toThrow(other);
    expect(signer.hotWallet(chain)).toBe(addressAt(chain, hot).address);
  });

  it('refuses every other payload', () => {
    const payload = encodePsbt(good.tx);
    const reading = () => unsignedTransaction(payload);
    const write = (tx: Transaction): string => base64.encode(tx.toPSBT(0));
    expect(write(reading())).toBe(payload);
    const edits: Record<string, (tx: Transaction) => void> = {
      'a kind of signature': (tx) => tx.updateInput(0, { sighashType: SigHash.NONE }),
      'the usual kind of signature, told': (tx) => tx.updateInput(0, { sighashType: SigHash.ALL }),
      'a relative lock time': (tx) => tx.updateInput(0, { sequence: 5 }),
      'mixed sequences': (tx) => tx.updateInput(1, { sequence: 0xffffffff }),
      'a signature': (tx) => tx.signIdx(keys.secp256k1(hot).privateKey, 0),
      'a known path of an output': (tx) =>
        tx.updateOutput(0, { bip32Derivation: [[keys.secp256k1(hot).publicKey, { fingerprint: 1, path: [1] }]] }),
      'another proprietary field': (tx) =>
        tx.updateInput(0, { proprietary: [[Uint8Array.from([1, 65, 0]), Uint8Array.from([1])]] }),
    };
    for (const [name, edit] of Object.entries(edits)) {
      const tx = reading();
      edit(tx);
      const told = { payload: write(tx) };
      expect({ name, changed: told.payload !== payload }).toEqual({ name, changed: true });
      expect(() => signerOf(chain).open(chain, good.intent, preparedOf(withTold(good, told)))).toThrow(SignerError);
    }
    const later = new Transaction({ lockTime: 500, version: 2, proprietary: 'ignore' });
    const older = new Transaction({ version: 1, proprietary: 'ignore' });
    for (const tx of [later, older]) {
      for (let index = 0; index < 2; index += 1) tx.addInput(reading().getInput(index));
      for (let index = 0; index < 2; index += 1) tx.addOutput(reading().getOutput(index));
      expect(() => decodePsbt(write(tx))).toThrow('more than a transaction');
    }
    for (const nonsense of [
      '',
      'nonsense',
      base64.encode(new Uint8Array([1, 2, 3])),
      `${payload}AA==`,
      `${payload} `,
    ]) {
      expect(() => signerOf(chain).open(chain, good.intent, preparedOf(withTold(good, { payload: nonsense })))).toThrow(
        SignerError,
      );
    }
    const reversed = new Transaction({ version: 2, proprietary: 'ignore' });
    for (const index of [1, 0]) reversed.addInput(reading().getInput(index));
    for (const index of [0, 1]) reversed.addOutput(reading().getOutput(index));
    expect(() => decodePsbt(write(reversed))).toThrow('another way');
  });
});

describe('Dogecoin', () => {
  const chain = 'dogecoin';
  const good = payment(chain);

  it('needs the earlier transaction for an amount, and not the payload alone', () => {
    const bare = good.tx.inputs.map((input) => ({ ...input, previous: null }));
    expect(faultsOf({ ...good, tx: { ...good.tx, inputs: bare } }).join()).toContain('path');
  });

  it('refuses an amount that differs from the earlier transaction', () => {
    const [input] = good.tx.inputs;
    const other = inputAt(chain, pathsOf(chain).hot, 60_000_001n, 9);
    for (const lie of [
      { ...other, outpoint: input?.outpoint ?? other.outpoint },
      { ...other, amount: other.amount - 1n },
      { ...other, script: good.tx.outputs[0]?.script ?? other.script },
    ]) {
      expect(() => decodePsbt(encodePsbt({ ...good.tx, inputs: [lie] }))).toThrow('is another');
    }
    // The same by hand, as an attacker would write it to set the fee.
    const payload = base64.decode(encodePsbt(good.tx));
    const [mine, theirs] = [
      hex.encode(input?.previous ?? new Uint8Array()),
      hex.encode(other.previous ?? new Uint8Array()),
    ];
    expect(hex.encode(payload)).toContain(mine);
    const forged = base64.encode(hex.decode(hex.encode(payload).replace(mine, theirs)));
    expect(() => signerOf(chain).open(chain, good.intent, preparedOf({ ...good, told: { payload: forged } }))).toThrow(
      SignerError,
    );
  });

  it('makes the signature that BIP143 gives for its unsigned transaction of two inputs', () => {
    // https://github.com/bitcoin/bips/blob/master/bip-0143.mediawiki, native P2WPKH: the second input, and a witness.
    const tx = Transaction.fromRaw(
      hex.decode(
        '0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000',
      ),
    );
    tx.updateInput(1, {
      witnessUtxo: {
        amount: 600_000_000n,
        script: hex.decode('00141d0f172a0ecb48aee1be1f2687d2963ae33f71a1'),
      },
    });
    tx.signIdx(hex.decode('619c335025c7f4012e556c2a58b2506e30b8511b53ade95ea316fd8c3286feb9'), 1);
    expect(hex.encode(tx.getInput(1).partialSig?.[0]?.[1] ?? new Uint8Array())).toBe(
      '304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee01',
    );
  });
});

describe('addresses of test networks', () => {
  const key = WIF().decode('KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn');
  const { publicKey } = { publicKey: hex.decode('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798') };

  it.each([
    // BIP173, of the key 1; the others as each project's own tools write them.
    ['bitcoin', 'main', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bitcoin', 'test', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['bitcoin', 'regtest', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
    ['dogecoin', 'main', 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE'],
  ] as const)('of %s %s', (chain, net, address) => {
    expect(key).toHaveLength(32);
    const params = utxoParams(chain, net);
    const own = ownAddress(params, publicKey);
    expect(own.address).toBe(address);
    expect(scriptOfAddress(params, address)).toEqual(own.script);
  });

  it('are refused on another network', () => {
    const bitcoin = utxoParams('bitcoin', 'main');
    for (const address of [
      'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
      '',
    ]) {
      expect(scriptOfAddress(bitcoin, address)).toBeNull();
    }
    expect(scriptOfAddress(utxoParams('dogecoin', 'main'), 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBeNull();
  });

  it('lock outputs of every supported kind', () => {
    const bitcoin = utxoParams('bitcoin', 'main');
    const kinds = Object.fromEntries(
      [
        '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
        '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
        'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
        'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
        'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      ].map((address) => {
        const script = scriptOfAddress(bitcoin, address) ?? new Uint8Array();
        return [OutScript.decode(script).type, dustLimit(bitcoin, script)];
      }),
    );
    // The dust limits that Bitcoin Core documents for each kind.
    expect(kinds).toEqual({ pkh: 546n, sh: 540n, wpkh: 294n, wsh: 330n, tr: 330n });
  });
});
