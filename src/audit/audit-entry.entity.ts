import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** One thing that a member of staff did, or an operator by command line. Never changed or removed. */
@Entity({ tableName: 'audit_log' })
export class AuditEntry {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  /** Null for what an operator did. */
  @Property({ type: 'uuid', nullable: true })
  staffId!: string | null;

  /** 'cli:' and the name of the operator's account on the machine; null for what staff did. */
  @Property({ type: 'text', nullable: true })
  actor!: string | null;

  /** Name of the operation of the staff API, or of the command. */
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
