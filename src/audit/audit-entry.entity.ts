import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** One thing that a member of staff did. Never changed or removed. */
@Entity({ tableName: 'audit_log' })
export class AuditEntry {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  @Property({ type: 'uuid' })
  staffId!: string;

  /** Name of the operation of the staff API. */
  @Property({ type: 'text' })
  operation!: string;

  /** What it was done to: 'order:<id>', 'partner:<id>', 'key:<key_id>', 'currency:BTC/BTC', 'staff:<id>'. */
  @Property({ type: 'text' })
  target!: string;

  @Property({ type: 'text' })
  reason!: string;

  /** What was changed, as it was. Never a secret. */
  @Property({ type: 'json', nullable: true })
  before!: Record<string, unknown> | null;

  /** And as it is since then. */
  @Property({ type: 'json', nullable: true })
  after!: Record<string, unknown> | null;

  @Property({ type: 'text' })
  requestId!: string;

  /** Network of the client, without its host part. */
  @Property({ type: 'text' })
  ip!: string;
}
