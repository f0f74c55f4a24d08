import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { BigIntType } from '@mikro-orm/postgresql';

/** An address, or shared address and tag, that is given to one order and to no other, ever. */
@Entity({ tableName: 'deposit_address' })
export class DepositAddress {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'text' })
  keychain!: string;

  /** Position below the keychain's account; unique in the keychain. */
  @Property({ type: new BigIntType('string') })
  index!: string;

  @Property({ type: 'text' })
  address!: string;

  @Property({ type: 'text', nullable: true })
  tag!: string | null;

  /**
   * The key's nested witness and taproot forms, which the address does not show; null where it has
   * none.
   */
  @Property({ type: 'text', nullable: true })
  nestedForm!: string | null;

  @Property({ type: 'text', nullable: true })
  taprootForm!: string | null;

  @Property({ type: 'timestamptz' })
  createdAt!: Date;

  /** Null while it waits in the pool. */
  @Property({ type: 'timestamptz', nullable: true })
  leasedAt!: Date | null;
}
