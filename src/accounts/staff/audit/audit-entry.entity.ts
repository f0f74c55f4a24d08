import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * One action of a member of staff, of an operator by command line, or of a partner's member. Never
 * changed or removed.
 */
@Entity({ tableName: 'audit_log' })
export class AuditEntry {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'timestamptz' })
  at!: Date;

  /** Null for an action of an operator or of a partner's member. */
  @Property({ type: 'uuid', nullable: true })
  staffId!: string | null;

  /** The member of a partner; null for an action of staff or of an operator. */
  @Property({ type: 'uuid', nullable: true })
  memberId!: string | null;

  /** 'cli:' and the operator's account name on the machine; null for an action of staff. */
  @Property({ type: 'text', nullable: true })
  actor!: string | null;

  /** Name of the operation of the staff API, or of the command. */
  @Property({ type: 'text' })
  operation!: string;

  /**
   * The object of the action: 'order:<id>', 'partner:<id>', 'key:<key_id>', 'currency:BTC/BTC',
   * 'staff:<id>'.
   */
  @Property({ type: 'text' })
  target!: string;

  @Property({ type: 'text' })
  reason!: string;

  /** The changed members before the action. Never a secret. */
  @Property({ type: 'json', nullable: true })
  before!: Record<string, unknown> | null;

  /** The changed members after the action. */
  @Property({ type: 'json', nullable: true })
  after!: Record<string, unknown> | null;

  @Property({ type: 'text' })
  requestId!: string;

  /** Network of the client, without the host part of its address. */
  @Property({ type: 'text' })
  ip!: string;
}
