import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** One coin on one network. Amounts are decimal strings in the coin's units. */
@Entity({ tableName: 'currency' })
export class Currency {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  coin!: string;

  @Property({ type: 'text' })
  network!: string;

  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'boolean' })
  isActive!: boolean;

  @Property({ type: 'boolean' })
  isDepositEnabled!: boolean;

  @Property({ type: 'boolean' })
  isWithdrawEnabled!: boolean;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  minAmount!: string;

  @Property({ type: 'decimal', precision: 38, scale: 18 })
  maxAmount!: string;

  @Property({ type: 'integer' })
  minConfirmations!: number;

  @Property({ type: 'integer' })
  decimals!: number;

  @Property({ type: 'boolean' })
  isMemo!: boolean;

  /** The cost of a payout of this coin on this network, in the coin's units. */
  @Property({ type: 'decimal', precision: 38, scale: 18 })
  networkFee!: string;

  /** Contract, mint or issuer of a token; null for the network's own coin. */
  @Property({ type: 'text', nullable: true })
  contract!: string | null;

  @Property({ type: 'text', nullable: true })
  explorerTxUrl!: string | null;

  @Property({ type: 'text', nullable: true })
  explorerAddressUrl!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  @Property({ type: 'timestamptz' })
  updatedAt!: Date;
}
