import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * The public side of a keychain: what new deposit addresses come from. No private key is ever here.
 */
@Entity({ tableName: 'deposit_account' })
export class DepositAccount {
  @PrimaryKey({ type: 'text' })
  keychain!: string;

  /** Fingerprint of the signer that holds the private keys. */
  @Property({ type: 'text' })
  signer!: string;

  /** Account key of a keychain with public derivation. */
  @Property({ type: 'text', nullable: true })
  xpub!: string | null;

  /** The one address of a memo network. */
  @Property({ type: 'text', nullable: true })
  sharedAddress!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;
}
