import { Migration } from '@mikro-orm/migrations';

/** By which keys of deposit addresses are recognised in every form of an address; changes of staff by two members; what operators do is in the audit log. */
export class Migration0014KeysAndStaff extends Migration {
  override up(): void {
    this.addSql(`
      -- Forms of the key that its address does not show. A process fills in what was written without them.
      alter table deposit_address
        add column nested_form text,
        add column taproot_form text,
        add check ((nested_form is null) = (taproot_form is null));
      create index deposit_address_nested_form on deposit_address (nested_form) where nested_form is not null;
      create index deposit_address_taproot_form on deposit_address (taproot_form) where taproot_form is not null;
      create index deposit_address_without_forms on deposit_address (id)
       where nested_form is null and keychain in ('bitcoin', 'litecoin');
    `);
    this.addSql(`
      alter table staff_member
        -- Until then the member approves nothing; null for a member who may.
        add column approves_from timestamptz,
        -- Shut out at once by one admin, until a second one decides.
        add column suspended_at timestamptz,
        -- Whom the identity provider calls so; bound at the first sign-in there.
        add column oidc_subject text unique,
        -- Of a code with which the member makes a token, once.
        add column enrolment_hash bytea unique,
        add column enrolment_ends_at timestamptz,
        add check ((enrolment_hash is null) = (enrolment_ends_at is null));

      -- Changes of staff. Where another admin may approve, they wait for one.
      create table staff_change (
        id uuid primary key,
        change text not null check (change in ('invite', 'role', 'token', 'revoke')),
        member_id uuid references staff_member (id),
        email text,
        role text check (role in ('viewer', 'support', 'operator', 'admin')),
        reason text not null check (length(reason) between 1 and 1000),
        state text not null check (state in ('proposed', 'done', 'rejected')),
        -- Carried out by one admin, as no other could approve it.
        alone boolean not null,
        proposed_by uuid not null references staff_member (id),
        proposed_at timestamptz not null,
        decided_by uuid references staff_member (id),
        decided_at timestamptz,
        check ((change = 'invite') = (email is not null)),
        check (change = 'invite' or member_id is not null),
        check ((change in ('invite', 'role')) = (role is not null)),
        check ((state = 'proposed') = (decided_at is null)),
        check (state <> 'done' or alone or decided_by is distinct from proposed_by)
      );
      create index staff_change_open on staff_change (proposed_at) where state = 'proposed';
      create unique index staff_change_open_once on staff_change (change, member_id, email)
        nulls not distinct where state = 'proposed';

      -- What operators do by command line has no member: 'cli:' and the name of the account on the machine.
      alter table audit_log
        alter column staff_id drop not null,
        add column actor text check (actor ~ '^cli:'),
        add check (num_nonnulls(staff_id, actor) = 1);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
