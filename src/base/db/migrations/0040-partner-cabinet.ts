import { Migration } from '@mikro-orm/migrations';

/** People of partners, their passkeys and sessions. */
export class Migration0040PartnerCabinet extends Migration {
  override up(): void {
    this.addSql(`
      create table partner_member (
        id uuid primary key,
        partner_id uuid not null references partner (id),
        name text not null check (length(name) between 1 and 100),
        role text not null check (role in ('owner', 'developer', 'finance', 'viewer')),
        created_at timestamptz not null,
        removed_at timestamptz
      );
      create index partner_member_partner on partner_member (partner_id, created_at) where removed_at is null;

      -- A link that makes a member, or gives a member a new passkey. Only a hash of its token is kept.
      create table partner_invitation (
        id uuid primary key,
        partner_id uuid not null references partner (id),
        -- The member who has lost all passkeys. Null for a new member.
        member_id uuid references partner_member (id),
        name text not null check (length(name) between 1 and 100),
        role text not null check (role in ('owner', 'developer', 'finance', 'viewer')),
        token_hash bytea not null unique,
        -- Null for an invitation by staff or an operator.
        invited_by uuid references partner_member (id),
        created_at timestamptz not null,
        expires_at timestamptz not null,
        -- When it was accepted or withdrawn.
        ended_at timestamptz
      );
      create index partner_invitation_open on partner_invitation (partner_id, created_at) where ended_at is null;

      create table partner_passkey (
        id uuid primary key,
        member_id uuid not null references partner_member (id),
        credential_id bytea not null unique,
        public_key bytea not null,
        counter bigint not null check (counter >= 0),
        transports text[] not null,
        name text not null check (length(name) <= 100),
        created_at timestamptz not null,
        last_used_at timestamptz
      );
      create index partner_passkey_member on partner_passkey (member_id);

      create table partner_session (
        id uuid primary key,
        member_id uuid not null references partner_member (id),
        secret_hash bytea not null unique,
        network text not null,
        browser text not null check (length(browser) <= 200),
        created_at timestamptz not null,
        last_seen_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz
      );
      create index partner_session_member on partner_session (member_id, created_at);
      create index partner_session_expires on partner_session (expires_at);

      -- What a passkey must sign. Taken out when it is answered, so each has one answer.
      create table partner_challenge (
        challenge text primary key,
        purpose text not null check (purpose in ('sign_in', 'invitation', 'passkey', 'confirmation')),
        -- The invitation or the session that it belongs to. Null for a sign-in.
        subject uuid,
        -- The operation that is confirmed.
        operation text,
        expires_at timestamptz not null,
        check ((purpose = 'sign_in') = (subject is null)),
        check ((purpose = 'confirmation') = (operation is not null))
      );
      create index partner_challenge_expires on partner_challenge (expires_at);

      -- An operation that a passkey has confirmed. Taken out by the operation.
      create table partner_confirmation (
        token_hash bytea primary key,
        session_id uuid not null references partner_session (id),
        operation text not null,
        expires_at timestamptz not null
      );
      create index partner_confirmation_expires on partner_confirmation (expires_at);

      -- The address that used a key last.
      alter table api_key add column last_used_from text;

      -- Members act as well, beside staff and operators.
      alter table audit_log
        drop constraint audit_log_check,
        add column member_id uuid references partner_member (id),
        add constraint audit_log_actor check (num_nonnulls(staff_id, actor, member_id) = 1);
      create index audit_log_member on audit_log (member_id, id) where member_id is not null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
