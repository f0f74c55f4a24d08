import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType } from '@mikro-orm/postgresql';
import type { BlockRef } from './chain-adapter.ts';

/** A chain as its scanner last saw it, and which process works on it. */
@Entity({ tableName: 'chain_state' })
export class ChainState {
  @PrimaryKey({ type: 'text' })
  chain!: string;

  @Property({ type: 'uuid', nullable: true })
  leaseOwner!: string | null;

  @Property({ type: 'timestamptz', nullable: true })
  leaseUntil!: Date | null;

  /** Grows with each change of the process that works on the chain. */
  @Property({ type: new BigIntType('string') })
  fence!: string;

  /** Grows with each stored scan. */
  @Property({ type: new BigIntType('string') })
  version!: string;

  @Property({ type: 'json' })
  cursorBlocks!: BlockRef[];

  @Property({ type: new BigIntType('number') })
  height!: number;

  @Property({ type: new BigIntType('number') })
  head!: number;

  @Property({ type: 'timestamptz', nullable: true })
  scannedAt!: Date | null;

  /** A height, set by a command: the next scan forgets the blocks above it and reads them again. */
  @Property({ type: new BigIntType('number'), nullable: true })
  rescanFrom!: number | null;

  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  /** The chain: 'sandbox', 'evm:<chain id>:<genesis>' or 'utxo:<genesis>'. Written once. */
  @Property({ type: 'text', nullable: true })
  identity!: string | null;

  /** Since when its nodes give no answer, or its payments wait for one. `failure` says why. */
  @Property({ type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  @Property({ type: 'text', nullable: true })
  failure!: string | null;

  /** When it was last read to its head: what came before is known. */
  @Property({ type: 'timestamptz', nullable: true })
  readAt!: Date | null;

  /**
   * The height up to which the chain itself called its blocks final. Null where confirmations alone
   * decide.
   */
  @Property({ type: new BigIntType('number'), nullable: true })
  finalHeight!: number | null;

  /** Index of the deposit address whose balance was compared last. -1 restarts. */
  @Property({ type: new BigIntType('number') })
  comparedIndex!: number;

  /** How the process that last read the chain found coins that contracts send on. */
  @Property({ type: 'text', nullable: true })
  internalTransfers!: string | null;

  /** When its node failed last. `failedAs` says how. */
  @Property({ type: 'timestamptz', nullable: true })
  failedAt!: Date | null;

  @Property({ type: 'text', nullable: true })
  failedAs!: string | null;

  /** Hashes of blocks that are not in the cursor and whose transfers may be stored. */
  @Property({ type: 'json' })
  unsettledBlocks!: string[];
}
