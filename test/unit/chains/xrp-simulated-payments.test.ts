import { accountIndex, type XrpKey } from '../../support/chains/xrp-node/crypto.ts';
import type { Unusual } from '../../support/chains/xrp-node/hands.ts';
import { accountFlags } from '../../support/chains/xrp-node/state.ts';
import { startXrp, type XrpChain } from '../../support/chains/xrp-node.ts';

type Json = Record<string, unknown>;

const payment = (Destination: string, Amount: bigint | string, more: Json = {}): Json => ({
  TransactionType: 'Payment',
  ...{ Destination, Amount: String(Amount), ...more },
});
const metaOf = (chain: XrpChain, txid: string): Json => chain.find(txid)?.applied.meta ?? {};
const nodesOf = (chain: XrpChain, txid: string): Record<string, Json>[] =>
  metaOf(chain, txid).AffectedNodes as Record<string, Json>[];

function setUp(drops = 100_000_000n): { chain: XrpChain; alice: XrpKey; bob: XrpKey } {
  const chain = startXrp();
  return { chain, alice: chain.newAccount(drops), bob: chain.newAccount() };
}

describe('a payment of the simulated ledger', () => {
  it('leaves the reserve of the account and of what it owns', () => {
    const { chain, alice, bob } = setUp(10_000_000n);
    chain.makeTickets(alice.address, 5);
    const sent = (drops: bigint): string => chain.submit(alice, payment(bob.address, drops), true).result;
    // 10 XRP less 1 for the account and 0.2 for each ticket; the fee may come from the reserve.
    expect(sent(8_000_001n)).toBe('tecUNFUNDED_PAYMENT');
    expect(sent(8_000_000n)).toBe('tesSUCCESS');
    chain.close();
    expect(chain.balance(alice.address)).toBe(1_999_990n);
  });

  it('makes an account with the reserve, and none with less', () => {
    const { chain, alice } = setUp();
    const { address } = chain.newKey();
    expect(chain.submit(alice, payment(address, 999_999n), true).result).toBe('tecNO_DST_INSUF_XRP');
    expect(chain.submit(alice, payment(address, 1_000_000n), true).result).toBe('tesSUCCESS');
    chain.fees.reserveBase = 2_000_000n;
    expect(chain.submit(alice, payment(chain.newKey().address, 1_999_999n), true).result).toBe('tecNO_DST_INSUF_XRP');
  });

  it('needs a tag where the account asks for one, and 0 is a tag', () => {
    const { chain, alice, bob } = setUp();
    expect(chain.submit(bob, { TransactionType: 'AccountSet', SetFlag: 1 }).result).toBe('tesSUCCESS');
    chain.close();
    expect(chain.account(bob.address).flags).toBe(accountFlags.requireDest);
    expect(chain.submit(alice, payment(bob.address, 1n), true).result).toBe('tecDST_TAG_NEEDED');
    expect(chain.submit(alice, payment(bob.address, 1n, { DestinationTag: 0 }), true).result).toBe('tesSUCCESS');
    expect(chain.submit(bob, { TransactionType: 'AccountSet', ClearFlag: 1 }).result).toBe('tesSUCCESS');
    expect(chain.submit(alice, payment(bob.address, 1n), true).result).toBe('tesSUCCESS');
  });

  it('needs permission where the account asks for it, unless it saves a poor account', () => {
    const { chain, alice, bob } = setUp();
    expect(chain.submit(bob, { TransactionType: 'AccountSet', SetFlag: 9 }).result).toBe('tesSUCCESS');
    expect(chain.submit(alice, payment(bob.address, 1n), true).result).toBe('tecNO_PERMISSION');
    chain.close();
    chain.setAccount(bob.address, { preauthorized: [alice.address] });
    expect(chain.submit(alice, payment(bob.address, 1n), true).result).toBe('tesSUCCESS');
    const poor = chain.newAccount(1_000_000n);
    chain.setAccount(poor.address, { flags: accountFlags.depositAuth });
    expect(chain.submit(alice, payment(poor.address, 1_000_001n), true).result).toBe('tecNO_PERMISSION');
    expect(chain.submit(alice, payment(poor.address, 1_000_000n), true).result).toBe('tesSUCCESS');
    expect(chain.submit(alice, payment(poor.address, 1n), true).result).toBe('tecNO_PERMISSION');
  });

  it('does not reach a pseudo-account', () => {
    const { chain, alice, bob } = setUp();
    chain.setAccount(bob.address, { isPseudo: true });
    expect(chain.submit(alice, payment(bob.address, 1n), true).result).toBe('tecNO_PERMISSION');
  });

  it.each([
    ['temREDUNDANT', {}, true],
    ['temBAD_AMOUNT', { Amount: '0' }, false],
    ['temBAD_SEND_XRP_PARTIAL', { Flags: 0x20000 }, false],
    ['temBAD_SEND_XRP_MAX', { SendMax: '5' }, false],
    ['temINVALID_FLAG', { Flags: 0x40000000 }, false],
    ['tecPATH_DRY', { Amount: { currency: 'USD', issuer: 'rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B', value: '1' } }, false],
  ])('answers %s to a payment that cannot be', (result, more, isToItself) => {
    const { chain, alice, bob } = setUp();
    const destination = isToItself ? alice.address : bob.address;
    expect(chain.submit(alice, payment(destination, 1n, more), true).result).toBe(result);
  });

  it('that fails stays out of the ledger when it must, and else takes the fee and the sequence', () => {
    const { chain, alice } = setUp();
    const { sequence } = chain.account(alice.address);
    const { blob, txid } = chain.sign(alice, payment(chain.newKey().address, 1n));
    expect(chain.pool.submit(blob, true)).toMatchObject({ result: 'tecNO_DST_INSUF_XRP', isApplied: false });
    expect(chain.close().transactions).toHaveLength(0);
    expect(chain.pool.submit(blob, false)).toMatchObject({ result: 'tecNO_DST_INSUF_XRP', isApplied: true });
    chain.close();
    expect(metaOf(chain, txid)).toMatchObject({ TransactionResult: 'tecNO_DST_INSUF_XRP' });
    expect(metaOf(chain, txid)).not.toHaveProperty('delivered_amount');
    expect(chain.account(alice.address)).toMatchObject({ balance: 99_999_990n, sequence: sequence + 1 });
  });

  it('delivers a part, which only the metadata tell', () => {
    const { chain, bob } = setUp();
    const txid = chain.pay(chain.bank, bob.address, 1_000_000n, { tag: 5, delivered: 1n });
    chain.close();
    expect(chain.balance(bob.address)).toBe(100_000_001n);
    expect(chain.find(txid)?.applied.tx.json).toMatchObject({ Amount: '1000000', Flags: 0x20000, DestinationTag: 5 });
    expect(metaOf(chain, txid)).toMatchObject({ DeliveredAmount: '1', delivered_amount: '1' });
  });

  it('of tokens moves no coins, also when they are named XRP', () => {
    const { chain, bob } = setUp();
    const named = '5852500000000000000000000000000000000000';
    const issued = { currency: named, issuer: chain.bank.address, value: '1000000' };
    const issuance = { mpt_issuance_id: `00000001${'AB'.repeat(20)}`, value: '7' };
    const ids = [issued, issuance].map((tokens) => chain.payTokens(bob.address, { tokens, tag: 1 }));
    chain.close();
    expect(ids.map((txid) => metaOf(chain, txid).delivered_amount)).toEqual([issued, issuance]);
    expect(chain.balance(bob.address)).toBe(100_000_000n);
  });

  it('fails in the ledger by hand', () => {
    const { chain, alice, bob } = setUp();
    const txid = chain.pay(alice, bob.address, 5n, { result: 'tecPATH_DRY' });
    chain.close();
    expect(metaOf(chain, txid)).toMatchObject({ TransactionResult: 'tecPATH_DRY' });
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual([99_999_990n, 100_000_000n]);
  });
});

describe('tickets of the simulated ledger', () => {
  it('take the next sequence numbers, and are used in any order', () => {
    const { chain, alice, bob } = setUp();
    const { sequence } = chain.account(alice.address);
    const { tx } = chain.submit(alice, { TransactionType: 'TicketCreate', TicketCount: 3 });
    chain.close();
    const tickets = [1, 2, 3].map((i) => sequence + i);
    expect(chain.account(alice.address)).toMatchObject({ tickets, ownerCount: 3, sequence: sequence + 4 });
    const created = nodesOf(chain, tx.txid).flatMap(({ CreatedNode }) => CreatedNode?.NewFields ?? []);
    expect(created.map((fields) => (fields as Json).TicketSequence).toSorted()).toEqual(tickets);
    const used = [tickets[2], tickets[0]].map((TicketSequence) =>
      chain.pay(alice, bob.address, 1n, { members: { TicketSequence } }),
    );
    expect(chain.close().transactions).toHaveLength(2);
    expect(chain.account(alice.address)).toMatchObject({
      tickets: [tickets[1]],
      ownerCount: 1,
      sequence: sequence + 4,
    });
    const kinds = nodesOf(chain, used[0] ?? '').map(
      (node) => `${Object.keys(node)} ${Object.values(node)[0]?.LedgerEntryType}`,
    );
    expect(kinds.toSorted()).toEqual([
      ...['DeletedNode Ticket', 'ModifiedNode AccountRoot', 'ModifiedNode AccountRoot', 'ModifiedNode DirectoryNode'],
    ]);
    const root = nodesOf(chain, used[0] ?? '').find(
      ({ ModifiedNode }) => ModifiedNode?.LedgerIndex === accountIndex(alice.address),
    );
    expect(root?.ModifiedNode?.PreviousFields).toMatchObject({ OwnerCount: 3, TicketCount: 3 });
    expect(root?.ModifiedNode?.PreviousFields).not.toHaveProperty('Sequence');
  });

  it('are refused when used, unknown, not made yet, or with a sequence', () => {
    const { chain, alice, bob } = setUp();
    const [first = 0, second = 0] = chain.makeTickets(alice.address, 2);
    const sent = (TicketSequence: number, more: Json = {}): string =>
      chain.submit(alice, { ...payment(bob.address, 1n), TicketSequence, ...more }, true).result;
    expect(sent(first)).toBe('tesSUCCESS');
    // A rival of what waits has no ticket in the open ledger.
    expect(sent(first, { Fee: '11' })).toBe('tefNO_TICKET');
    chain.close();
    expect(sent(first, { Fee: '12' })).toBe('tefNO_TICKET');
    expect(sent(chain.account(alice.address).sequence)).toBe('terPRE_TICKET');
    expect(sent(second, { Sequence: 1 })).toBe('temSEQ_AND_TICKET');
  });

  it('are used up by a failure', () => {
    const { chain, alice } = setUp();
    const [ticket = 0] = chain.makeTickets(alice.address, 1);
    chain.submit(alice, { ...payment(chain.newKey().address, 1n), TicketSequence: ticket });
    expect(chain.close().transactions).toHaveLength(1);
    expect(chain.account(alice.address)).toMatchObject({ tickets: [], ownerCount: 0 });
  });

  it('are at most 250, and each needs its reserve', () => {
    const { chain, alice } = setUp(50_800_000n);
    const made = (TicketCount: number): string =>
      chain.submit(alice, { TransactionType: 'TicketCreate', TicketCount }, true).result;
    expect([made(0), made(251), made(250)]).toEqual([
      'temINVALID_COUNT',
      'temINVALID_COUNT',
      'tecINSUFFICIENT_RESERVE',
    ]);
    expect(made(249)).toBe('tesSUCCESS');
    chain.close();
    chain.fund(alice.address, 10_000_000n);
    expect(made(2)).toBe('tecDIR_FULL');
    expect(made(1)).toBe('tesSUCCESS');
  });
});

describe('coins without a payment on the simulated ledger', () => {
  it.each<Unusual>(['AccountDelete', 'EscrowFinish', 'PaymentChannelClaim', 'CheckCash'])('come by %s', (kind) => {
    const { chain, bob } = setUp();
    const txid = chain.credit(kind, bob.address, 3_000_000n, 4);
    const { header, state } = chain.close();
    const fee = kind === 'CheckCash' ? 10n : 0n;
    expect(chain.balance(bob.address)).toBe(103_000_000n - fee);
    expect(chain.find(txid)?.applied.tx.json.TransactionType).toBe(kind);
    const shows = kind === 'AccountDelete' || kind === 'CheckCash';
    expect(metaOf(chain, txid).delivered_amount).toBe(shows ? '3000000' : undefined);
    expect(state.total).toBe(header.total_coins);
  });

  it('come by a batch, whose inner payments have ids and their own metadata', () => {
    const { chain, bob } = setUp();
    const { outer, inner } = chain.payInBatch(bob.address, 3_000_000n, 9);
    expect(chain.close().transactions).toHaveLength(3);
    expect(metaOf(chain, inner)).toMatchObject({
      ParentBatchID: outer,
      delivered_amount: '3000000',
      TransactionIndex: 1,
    });
    expect(chain.find(inner)?.applied.tx.json).toMatchObject({ SigningPubKey: '', Fee: '0', Flags: 0x40000000 });
    expect(chain.find(inner)?.applied.tx.json).not.toHaveProperty('TxnSignature');
    expect(nodesOf(chain, outer)).toHaveLength(1);
    expect(chain.balance(bob.address)).toBe(103_000_000n);
  });
});

describe('the metadata of the simulated ledger', () => {
  /** The drops that all accounts of a transaction gained; less than 0 when it burned some. */
  function gained(chain: XrpChain, txid: string): bigint {
    let sum = 0n;
    for (const node of nodesOf(chain, txid)) {
      const { CreatedNode, ModifiedNode, DeletedNode } = node;
      const changed = (CreatedNode ?? ModifiedNode ?? DeletedNode) as Record<string, Json | string | undefined>;
      if (changed.LedgerEntryType !== 'AccountRoot') continue;
      const final = (changed.NewFields ?? changed.FinalFields) as Json;
      const before = (changed.PreviousFields ?? {}) as Json;
      sum += BigInt(String(final.Balance)) - (CreatedNode ? 0n : BigInt(String(before.Balance ?? final.Balance)));
    }
    return sum;
  }

  it('account for every drop, in all that a test can do', () => {
    const { chain, alice, bob } = setUp();
    const [ticket = 0] = chain.makeTickets(bob.address, 1);
    const sent = [
      chain.pay(alice, bob.address, 1_000n, { tag: 1, members: { Fee: '777' } }),
      chain.pay(alice, chain.newKey().address, 1_000_000n),
      chain.pay(bob, alice.address, 5n, { members: { TicketSequence: ticket } }),
      chain.submit(alice, payment(chain.newKey().address, 1n)).tx.txid,
      chain.submit(bob, { TransactionType: 'TicketCreate', TicketCount: 2 }).tx.txid,
      chain.submit(bob, { TransactionType: 'AccountSet', SetFlag: 1 }).tx.txid,
      chain.pay(alice, bob.address, 1_000_000n, { tag: 2, delivered: 3n }),
      chain.pay(alice, bob.address, 4n, { result: 'tecPATH_DRY' }),
      chain.payTokens(bob.address),
      ...Object.values(chain.payInBatch(bob.address, 8n)),
      chain.credit('EscrowFinish', bob.address, 9n),
      chain.credit('PaymentChannelClaim', bob.address, 10n),
      chain.credit('CheckCash', bob.address, 11n),
    ];
    chain.close();
    sent.push(chain.credit('AccountDelete', bob.address, 12_000_000n));
    chain.close();
    for (const txid of sent) {
      const found = chain.find(txid);
      expect([txid, gained(chain, txid)]).toEqual([txid, -BigInt(String(found?.applied.tx.json.Fee))]);
    }
    for (const { state, header } of chain.ledgers) expect(state.total).toBe(header.total_coins);
  });

  it('are in the order in which the transactions were applied', () => {
    const { chain, alice, bob } = setUp();
    for (let i = 1; i <= 20; i += 1) chain.pay(i % 2 === 0 ? alice : bob, chain.bank.address, BigInt(i));
    const { transactions } = chain.close();
    expect(transactions.map(({ meta }) => meta.TransactionIndex)).toEqual([...Array(20).keys()]);
    const before = new Map<unknown, unknown>();
    for (const { tx, meta } of transactions) {
      for (const { ModifiedNode } of meta.AffectedNodes as Record<string, Json>[]) {
        const last = before.get(ModifiedNode?.LedgerIndex);
        if (last !== undefined) expect(ModifiedNode?.PreviousTxnID).toBe(last);
        before.set(ModifiedNode?.LedgerIndex, tx.txid);
      }
    }
    expect(before.size).toBe(3);
  });
});
