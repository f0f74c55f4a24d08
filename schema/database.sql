-- Generated from the migrations by npm run generate. Do not edit.

create table api_key (
  key_id text not null,
  partner_id uuid not null,
  mac bytea not null,
  pepper_version integer not null,
  last4 text not null,
  label text not null,
  scopes text[] not null,
  allowed_cidrs text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  default_markup_bps integer,
  last_used_from text,
  markup_changed_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (key_id),
  constraint api_key_default_markup_bps_check CHECK (((default_markup_bps >= 1) AND (default_markup_bps <= 500))),
  constraint api_key_key_id_check CHECK ((key_id ~ '^xp_(live|test)_[0-9A-Za-z]{12}$'::text)),
  constraint api_key_last4_check CHECK ((length(last4) = 4)),
  constraint api_key_mac_check CHECK ((length(mac) = 32)),
  constraint api_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);
CREATE INDEX api_key_partner ON public.api_key USING btree (partner_id);

create table api_traffic (
  at timestamp with time zone not null,
  endpoint text not null,
  outcome text not null,
  bucket smallint not null,
  requests bigint not null,
  constraint api_traffic_pkey PRIMARY KEY (at, endpoint, outcome, bucket),
  constraint api_traffic_bucket_check CHECK (((bucket >= 0) AND (bucket <= 100))),
  constraint api_traffic_endpoint_check CHECK (((length(endpoint) >= 1) AND (length(endpoint) <= 300))),
  constraint api_traffic_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'client_error'::text, 'server_error'::text]))),
  constraint api_traffic_requests_check CHECK ((requests > 0))
);

create table attention_assignee (
  item_id text not null,
  staff_id uuid not null,
  since timestamp with time zone not null,
  constraint attention_assignee_pkey PRIMARY KEY (item_id),
  constraint attention_assignee_item_id_check CHECK (((length(item_id) >= 3) AND (length(item_id) <= 300))),
  constraint attention_assignee_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id)
);

create table audit_log (
  id uuid not null,
  at timestamp with time zone not null,
  staff_id uuid,
  operation text not null,
  target text not null,
  reason text not null,
  before jsonb,
  after jsonb,
  request_id text not null,
  ip text not null,
  actor text,
  member_id uuid,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_actor CHECK ((num_nonnulls(staff_id, actor, member_id) = 1)),
  constraint audit_log_actor_check CHECK ((actor ~ '^cli:'::text)),
  constraint audit_log_member_id_fkey FOREIGN KEY (member_id) REFERENCES partner_member(id),
  constraint audit_log_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000))),
  constraint audit_log_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id)
);
CREATE INDEX audit_log_at ON public.audit_log USING btree (at);
CREATE INDEX audit_log_member ON public.audit_log USING btree (member_id, id) WHERE (member_id IS NOT NULL);
CREATE INDEX audit_log_operation ON public.audit_log USING btree (operation, id);
CREATE INDEX audit_log_staff ON public.audit_log USING btree (staff_id, id);
CREATE INDEX audit_log_target ON public.audit_log USING btree (target, id);
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table chain_history (
  at timestamp with time zone not null,
  chain text not null,
  height bigint not null,
  head bigint,
  lag_lowest bigint,
  lag_highest bigint,
  lag_last bigint,
  readings integer not null,
  failures integer not null,
  failure text,
  constraint chain_history_pkey PRIMARY KEY (at, chain),
  constraint chain_history_check CHECK (((failures >= 0) AND (failures <= readings))),
  constraint chain_history_check1 CHECK (((lag_last >= lag_lowest) AND (lag_last <= lag_highest))),
  constraint chain_history_check2 CHECK ((num_nulls(head, lag_lowest, lag_highest, lag_last) = ANY (ARRAY[0, 4]))),
  constraint chain_history_check3 CHECK (((failures = 0) = (failure IS NULL))),
  constraint chain_history_lag_lowest_check CHECK ((lag_lowest >= 0)),
  constraint chain_history_readings_check CHECK ((readings > 0))
);

create table chain_state (
  chain text not null,
  lease_owner uuid,
  lease_until timestamp with time zone,
  fence bigint not null default 0,
  version bigint not null default 0,
  cursor_blocks jsonb not null default '[]'::jsonb,
  height bigint not null default 0,
  head bigint not null default 0,
  scanned_at timestamp with time zone,
  rescan_from bigint,
  problem text,
  identity text,
  failing_since timestamp with time zone,
  failure text,
  read_at timestamp with time zone,
  final_height bigint,
  compared_index bigint not null default '-1'::integer,
  internal_transfers text,
  failed_at timestamp with time zone,
  failed_as text,
  unsettled_blocks jsonb not null default '[]'::jsonb,
  constraint chain_state_pkey PRIMARY KEY (chain)
);

create table commission_address (
  id uuid not null,
  partner_id uuid not null,
  coin text not null,
  network text not null,
  address text not null,
  tag text,
  requested_at timestamp with time zone not null,
  member_id uuid,
  action_id uuid,
  old_is_lost boolean not null default false,
  effective_at timestamp with time zone not null,
  took_effect_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint commission_address_pkey PRIMARY KEY (id),
  constraint commission_address_action_id_fkey FOREIGN KEY (action_id) REFERENCES staff_action(id),
  constraint commission_address_check CHECK ((num_nonnulls(member_id, action_id) = 1)),
  constraint commission_address_check1 CHECK (((took_effect_at IS NULL) OR (cancelled_at IS NULL))),
  constraint commission_address_member_id_fkey FOREIGN KEY (member_id) REFERENCES partner_member(id),
  constraint commission_address_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);
CREATE INDEX commission_address_partner ON public.commission_address USING btree (partner_id, requested_at);
CREATE UNIQUE INDEX commission_address_waiting ON public.commission_address USING btree (partner_id) WHERE ((took_effect_at IS NULL) AND (cancelled_at IS NULL));
CREATE TRIGGER commission_address_keep BEFORE DELETE OR UPDATE ON public.commission_address FOR EACH ROW EXECUTE FUNCTION keep_commission_address();

create table commission_entry (
  id uuid not null,
  number bigint not null,
  partner_id uuid not null,
  month date not null,
  at timestamp with time zone not null,
  kind text not null,
  coin text not null,
  network text not null,
  amount numeric(38,18) not null,
  order_id uuid,
  from_coin text,
  from_network text,
  from_amount numeric(38,18),
  from_price numeric(38,18),
  price numeric(38,18),
  corrects uuid,
  action_id uuid,
  payment_id uuid,
  reason text,
  constraint commission_entry_pkey PRIMARY KEY (id),
  constraint commission_entry_action_id_fkey FOREIGN KEY (action_id) REFERENCES staff_action(id),
  constraint commission_entry_amount_check CHECK ((amount <> (0)::numeric)),
  constraint commission_entry_check CHECK (((kind = 'accrual'::text) = (order_id IS NOT NULL))),
  constraint commission_entry_check1 CHECK (((kind = 'payment'::text) = (payment_id IS NOT NULL))),
  constraint commission_entry_check2 CHECK (((kind = 'correction'::text) = (action_id IS NOT NULL))),
  constraint commission_entry_check3 CHECK ((num_nulls(from_coin, from_network, from_amount, from_price, price) = ANY (ARRAY[0, 5]))),
  constraint commission_entry_corrects_fkey FOREIGN KEY (corrects) REFERENCES commission_entry(id),
  constraint commission_entry_from_amount_check CHECK ((from_amount > (0)::numeric)),
  constraint commission_entry_from_price_check CHECK ((from_price > (0)::numeric)),
  constraint commission_entry_kind_check CHECK ((kind = ANY (ARRAY['accrual'::text, 'conversion'::text, 'correction'::text, 'payment'::text]))),
  constraint commission_entry_number_key UNIQUE (number),
  constraint commission_entry_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint commission_entry_partner_id_month_fkey FOREIGN KEY (partner_id, month) REFERENCES commission_statement(partner_id, month),
  constraint commission_entry_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id),
  constraint commission_entry_price_check CHECK ((price > (0)::numeric)),
  constraint commission_entry_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000)))
);
CREATE UNIQUE INDEX commission_entry_action ON public.commission_entry USING btree (action_id) WHERE (kind = 'correction'::text);
CREATE INDEX commission_entry_month ON public.commission_entry USING btree (partner_id, month, number);
CREATE UNIQUE INDEX commission_entry_order ON public.commission_entry USING btree (order_id) WHERE (kind = 'accrual'::text);
CREATE UNIQUE INDEX commission_entry_payment ON public.commission_entry USING btree (payment_id) WHERE (kind = 'payment'::text);
CREATE TRIGGER commission_entry_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.commission_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commission_entry_open BEFORE INSERT ON public.commission_entry FOR EACH ROW EXECUTE FUNCTION refuse_closed_month();

create table commission_statement (
  partner_id uuid not null,
  month date not null,
  coin text not null,
  network text not null,
  state text not null default 'open'::text,
  closed_at timestamp with time zone,
  figures jsonb,
  orders integer,
  sha256 text,
  due numeric(38,18),
  payment_id uuid,
  attempts integer not null default 0,
  problem text,
  held_at timestamp with time zone,
  hold_reason text,
  approved_at timestamp with time zone,
  approved_inactive boolean not null default false,
  paid_at timestamp with time zone,
  constraint commission_statement_pkey PRIMARY KEY (partner_id, month),
  constraint commission_statement_attempts_check CHECK ((attempts >= 0)),
  constraint commission_statement_check CHECK (((NOT approved_inactive) OR (approved_at IS NOT NULL))),
  constraint commission_statement_check1 CHECK (((state = 'open'::text) = (closed_at IS NULL))),
  constraint commission_statement_check2 CHECK ((num_nulls(closed_at, figures, orders, sha256) = ANY (ARRAY[0, 4]))),
  constraint commission_statement_check3 CHECK (((state = ANY (ARRAY['payable'::text, 'paid'::text])) = (due IS NOT NULL))),
  constraint commission_statement_check4 CHECK (((state = 'paid'::text) = (paid_at IS NOT NULL))),
  constraint commission_statement_check5 CHECK (((held_at IS NULL) = (hold_reason IS NULL))),
  constraint commission_statement_due_check CHECK ((due > (0)::numeric)),
  constraint commission_statement_hold_reason_check CHECK (((length(hold_reason) >= 1) AND (length(hold_reason) <= 1000))),
  constraint commission_statement_month_check CHECK ((month = (date_trunc('month'::text, (month)::timestamp without time zone))::date)),
  constraint commission_statement_orders_check CHECK ((orders >= 0)),
  constraint commission_statement_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint commission_statement_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id),
  constraint commission_statement_payment_id_key UNIQUE (payment_id),
  constraint commission_statement_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint commission_statement_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'rolled'::text, 'payable'::text, 'paid'::text])))
);
CREATE INDEX commission_statement_month ON public.commission_statement USING btree (month, partner_id);
CREATE INDEX commission_statement_open ON public.commission_statement USING btree (month) WHERE (state = 'open'::text);
CREATE INDEX commission_statement_payable ON public.commission_statement USING btree (closed_at) WHERE (state = 'payable'::text);
CREATE TRIGGER commission_statement_keep BEFORE DELETE OR UPDATE ON public.commission_statement FOR EACH ROW EXECUTE FUNCTION keep_commission_statement();

create table currency (
  id uuid not null,
  coin text not null,
  network text not null,
  name text not null,
  is_active boolean not null,
  is_deposit_enabled boolean not null,
  is_withdraw_enabled boolean not null,
  min_amount numeric(38,18) not null,
  max_amount numeric(38,18) not null,
  min_confirmations integer not null,
  decimals integer not null,
  is_memo boolean not null,
  network_fee numeric(38,18) not null,
  contract text,
  explorer_tx_url text,
  explorer_address_url text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint currency_pkey PRIMARY KEY (id),
  constraint currency_check CHECK ((max_amount >= min_amount)),
  constraint currency_coin_check CHECK ((coin ~ '^[A-Z0-9]{1,12}$'::text)),
  constraint currency_coin_network_key UNIQUE (coin, network),
  constraint currency_decimals_check CHECK (((decimals >= 0) AND (decimals <= 18))),
  constraint currency_min_amount_check CHECK ((min_amount > (0)::numeric)),
  constraint currency_min_confirmations_check CHECK ((min_confirmations > 0)),
  constraint currency_network_check CHECK ((network ~ '^[A-Z0-9]{1,16}$'::text)),
  constraint currency_network_fee_check CHECK ((network_fee >= (0)::numeric))
);

create table deposit (
  id uuid not null,
  chain text not null,
  key text not null,
  order_id uuid,
  txid text not null,
  address text not null,
  tag text,
  contract text,
  coin text,
  network text,
  amount numeric(38,18) not null,
  state text not null,
  height bigint,
  block_hash text,
  confirmations_required integer not null,
  seen_at timestamp with time zone not null,
  mined_at timestamp with time zone,
  credited_at timestamp with time zone,
  credits integer not null default 0,
  problem text,
  is_reported boolean not null default false,
  purpose text not null default 'order'::text,
  swept_by uuid,
  arrived_after timestamp with time zone,
  arrived_by timestamp with time zone not null default now(),
  mined_after timestamp with time zone,
  compared_height bigint,
  transfer_id uuid,
  constraint deposit_pkey PRIMARY KEY (id),
  constraint deposit_amount_check CHECK ((amount > (0)::numeric)),
  constraint deposit_chain_key_key UNIQUE (chain, key),
  constraint deposit_check CHECK (((state = ANY (ARRAY['mined'::text, 'credited'::text])) = ((height IS NOT NULL) AND (block_hash IS NOT NULL)))),
  constraint deposit_check1 CHECK (((state <> 'credited'::text) OR ((credited_at IS NOT NULL) AND (credits > 0)))),
  constraint deposit_check2 CHECK (((purpose = 'order'::text) OR (order_id IS NULL))),
  constraint deposit_check3 CHECK ((arrived_after <= arrived_by)),
  constraint deposit_confirmations_required_check CHECK ((confirmations_required > 0)),
  constraint deposit_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint deposit_purpose_check CHECK ((purpose = ANY (ARRAY['order'::text, 'funding'::text]))),
  constraint deposit_state_check CHECK ((state = ANY (ARRAY['mempool'::text, 'mined'::text, 'credited'::text, 'orphaned'::text]))),
  constraint deposit_swept_by_fkey FOREIGN KEY (swept_by) REFERENCES payment(id),
  constraint deposit_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES treasury_transfer(id)
);
CREATE INDEX deposit_address_of_chain ON public.deposit USING btree (chain, address);
CREATE INDEX deposit_block ON public.deposit USING btree (chain, block_hash) WHERE (block_hash IS NOT NULL);
CREATE INDEX deposit_funding ON public.deposit USING btree (chain, coin, network, amount) WHERE ((purpose = 'funding'::text) AND (transfer_id IS NULL));
CREATE INDEX deposit_funding_tx ON public.deposit USING btree (chain, txid) WHERE ((purpose = 'funding'::text) AND (transfer_id IS NULL));
CREATE INDEX deposit_mempool ON public.deposit USING btree (chain) WHERE (state = 'mempool'::text);
CREATE INDEX deposit_order ON public.deposit USING btree (order_id);
CREATE INDEX deposit_orphaned ON public.deposit USING btree (chain) WHERE (state = 'orphaned'::text);
CREATE INDEX deposit_problem ON public.deposit USING btree (seen_at) WHERE (problem IS NOT NULL);
CREATE INDEX deposit_ripening ON public.deposit USING btree (chain, height) WHERE (state = 'mined'::text);
CREATE INDEX deposit_swept ON public.deposit USING btree (swept_by) WHERE (swept_by IS NOT NULL);
CREATE INDEX deposit_taken_back ON public.deposit USING btree (order_id) WHERE ((credits > 0) AND (state <> 'credited'::text) AND (order_id IS NOT NULL));
CREATE INDEX deposit_transfer ON public.deposit USING btree (transfer_id) WHERE (transfer_id IS NOT NULL);
CREATE INDEX deposit_txid ON public.deposit USING btree (lower(txid) text_pattern_ops);
CREATE INDEX deposit_unassigned ON public.deposit USING btree (id) WHERE ((order_id IS NULL) AND (purpose = 'order'::text));
CREATE INDEX deposit_unswept ON public.deposit USING btree (chain, credited_at) WHERE ((state = 'credited'::text) AND (swept_by IS NULL) AND (purpose = 'order'::text));

create table deposit_account (
  keychain text not null,
  signer text not null,
  xpub text,
  shared_address text,
  created_at timestamp with time zone not null,
  constraint deposit_account_pkey PRIMARY KEY (keychain),
  constraint deposit_account_check CHECK ((num_nonnulls(xpub, shared_address) <= 1))
);

create table deposit_address (
  id uuid not null,
  keychain text not null,
  index bigint not null,
  address text not null,
  tag text,
  created_at timestamp with time zone not null,
  leased_at timestamp with time zone,
  nested_form text,
  taproot_form text,
  constraint deposit_address_pkey PRIMARY KEY (id),
  constraint deposit_address_address_tag_key UNIQUE NULLS NOT DISTINCT (address, tag),
  constraint deposit_address_check CHECK (((nested_form IS NULL) = (taproot_form IS NULL))),
  constraint deposit_address_keychain_fkey FOREIGN KEY (keychain) REFERENCES deposit_account(keychain),
  constraint deposit_address_keychain_index_key UNIQUE (keychain, index)
);
CREATE INDEX deposit_address_free ON public.deposit_address USING btree (keychain, index) WHERE (leased_at IS NULL);
CREATE INDEX deposit_address_nested_form ON public.deposit_address USING btree (nested_form) WHERE (nested_form IS NOT NULL);
CREATE INDEX deposit_address_search ON public.deposit_address USING btree (lower(address) text_pattern_ops) WHERE (leased_at IS NOT NULL);
CREATE INDEX deposit_address_taproot_form ON public.deposit_address USING btree (taproot_form) WHERE (taproot_form IS NOT NULL);
CREATE TRIGGER deposit_address_given_once BEFORE UPDATE ON public.deposit_address FOR EACH ROW EXECUTE FUNCTION refuse_new_identity();
CREATE TRIGGER deposit_address_kept BEFORE DELETE OR TRUNCATE ON public.deposit_address FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table deposit_part (
  chain text not null,
  key text not null,
  address text not null,
  amount numeric(38,18) not null,
  height bigint not null,
  deposit_id uuid,
  constraint deposit_part_pkey PRIMARY KEY (chain, key),
  constraint deposit_part_amount_check CHECK ((amount > (0)::numeric)),
  constraint deposit_part_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposit(id)
);
CREATE INDEX deposit_part_address ON public.deposit_part USING btree (chain, address);
CREATE INDEX deposit_part_deposit ON public.deposit_part USING btree (deposit_id) WHERE (deposit_id IS NOT NULL);

create table exchange_order (
  id uuid not null,
  short_id text not null,
  partner_id uuid not null,
  status text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  next_action_at timestamp with time zone,
  coin_from text not null,
  network_from text not null,
  coin_to text not null,
  network_to text not null,
  amount_from_expected numeric(38,18) not null,
  amount_to_expected numeric(38,18) not null,
  rate_type text not null,
  rate_quoted numeric(38,18) not null,
  fee_rate numeric(9,6) not null,
  service_fee_quoted numeric(38,18) not null,
  network_fee_quoted numeric(38,18) not null,
  deposit_address_id uuid not null,
  recipient_address text not null,
  recipient_address_tag text,
  refund_address text,
  refund_address_tag text,
  deposit_txid text,
  deposit_confirmations integer,
  deposit_confirmations_required integer not null,
  payout_txid text,
  deposit_id uuid,
  min_amount numeric(38,18) not null,
  max_amount numeric(38,18) not null,
  amount_from_actual numeric(38,18),
  amount_to_actual numeric(38,18),
  exchange_deadline timestamp with time zone,
  event_seq integer not null default 1,
  held_at timestamp with time zone,
  hold_reason text,
  refund_address_set_at timestamp with time zone,
  failing_since timestamp with time zone,
  constraint exchange_order_pkey PRIMARY KEY (id),
  constraint exchange_order_amount_from_actual_check CHECK ((amount_from_actual > (0)::numeric)),
  constraint exchange_order_amount_from_expected_check CHECK ((amount_from_expected > (0)::numeric)),
  constraint exchange_order_amount_to_actual_check CHECK ((amount_to_actual > (0)::numeric)),
  constraint exchange_order_amount_to_expected_check CHECK ((amount_to_expected > (0)::numeric)),
  constraint exchange_order_check CHECK ((expires_at > created_at)),
  constraint exchange_order_check1 CHECK (((coin_from <> coin_to) OR (network_from <> network_to))),
  constraint exchange_order_check2 CHECK (((refund_address IS NOT NULL) OR (refund_address_tag IS NULL))),
  constraint exchange_order_check3 CHECK (((held_at IS NULL) = (hold_reason IS NULL))),
  constraint exchange_order_coin_from_network_from_fkey FOREIGN KEY (coin_from, network_from) REFERENCES currency(coin, network),
  constraint exchange_order_coin_to_network_to_fkey FOREIGN KEY (coin_to, network_to) REFERENCES currency(coin, network),
  constraint exchange_order_deposit_address_id_fkey FOREIGN KEY (deposit_address_id) REFERENCES deposit_address(id),
  constraint exchange_order_deposit_address_id_key UNIQUE (deposit_address_id),
  constraint exchange_order_deposit_confirmations_check CHECK ((deposit_confirmations >= 0)),
  constraint exchange_order_deposit_confirmations_required_check CHECK ((deposit_confirmations_required > 0)),
  constraint exchange_order_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposit(id),
  constraint exchange_order_network_fee_quoted_check CHECK ((network_fee_quoted >= (0)::numeric)),
  constraint exchange_order_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint exchange_order_rate_quoted_check CHECK ((rate_quoted > (0)::numeric)),
  constraint exchange_order_rate_type_check CHECK ((rate_type = ANY (ARRAY['float'::text, 'fixed'::text]))),
  constraint exchange_order_refund_address_set CHECK (((refund_address_set_at IS NULL) OR (refund_address IS NOT NULL))),
  constraint exchange_order_service_fee_quoted_check CHECK ((service_fee_quoted >= (0)::numeric)),
  constraint exchange_order_short_id_check CHECK ((short_id ~ '^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$'::text)),
  constraint exchange_order_short_id_key UNIQUE (short_id),
  constraint exchange_order_status_check CHECK ((status = ANY (ARRAY['waiting_deposit'::text, 'confirming'::text, 'exchanging'::text, 'sending'::text, 'completed'::text, 'expired'::text, 'refunding'::text, 'refunded'::text, 'failed'::text])))
);
CREATE INDEX exchange_order_created ON public.exchange_order USING btree (created_at, id) WHERE ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at));
CREATE INDEX exchange_order_due ON public.exchange_order USING btree (next_action_at) WHERE (next_action_at IS NOT NULL);
CREATE INDEX exchange_order_exchanging ON public.exchange_order USING btree (exchange_deadline, id) WHERE (status = 'exchanging'::text);
CREATE INDEX exchange_order_failed ON public.exchange_order USING btree (updated_at) WHERE (status = 'failed'::text);
CREATE INDEX exchange_order_failing ON public.exchange_order USING btree (failing_since) WHERE (failing_since IS NOT NULL);
CREATE INDEX exchange_order_float_open ON public.exchange_order USING btree (partner_id, coin_from) INCLUDE (amount_from_expected, max_amount, status, created_at, deposit_id) WHERE ((rate_type = 'float'::text) AND (status = ANY (ARRAY['waiting_deposit'::text, 'confirming'::text, 'exchanging'::text, 'sending'::text])));
CREATE INDEX exchange_order_float_paid ON public.exchange_order USING btree (coin_from) INCLUDE (amount_from_expected, max_amount, deposit_id) WHERE ((rate_type = 'float'::text) AND (status = ANY (ARRAY['waiting_deposit'::text, 'confirming'::text, 'exchanging'::text, 'sending'::text])) AND (deposit_id IS NOT NULL));
CREATE INDEX exchange_order_held ON public.exchange_order USING btree (held_at) WHERE (held_at IS NOT NULL);
CREATE INDEX exchange_order_open ON public.exchange_order USING btree (status, created_at, id) WHERE (status <> ALL (ARRAY['completed'::text, 'expired'::text]));
CREATE INDEX exchange_order_pair ON public.exchange_order USING btree (coin_from, network_from, coin_to, network_to, created_at, id) WHERE ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at));
CREATE INDEX exchange_order_partner ON public.exchange_order USING btree (partner_id, created_at DESC, id DESC);
CREATE INDEX exchange_order_recipient ON public.exchange_order USING btree (lower(recipient_address) text_pattern_ops) WHERE ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at));
CREATE INDEX exchange_order_refund ON public.exchange_order USING btree (lower(refund_address) text_pattern_ops) WHERE ((refund_address IS NOT NULL) AND ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at)));
CREATE INDEX exchange_order_to ON public.exchange_order USING btree (coin_to, network_to, created_at, id) WHERE ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at));
CREATE INDEX exchange_order_updated ON public.exchange_order USING btree (updated_at, id) WHERE ((status <> 'waiting_deposit'::text) OR (updated_at <> created_at));
CREATE TRIGGER exchange_order_edge BEFORE UPDATE OF status ON public.exchange_order FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION check_order_move();
CREATE CONSTRAINT TRIGGER exchange_order_has_event AFTER UPDATE OF status ON public.exchange_order DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_order_history();
CREATE TRIGGER exchange_order_has_first_event AFTER INSERT ON public.exchange_order REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION check_first_events();
CREATE TRIGGER exchange_order_not_removed BEFORE DELETE OR TRUNCATE ON public.exchange_order FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER exchange_order_refund_address_once BEFORE UPDATE OF refund_address, refund_address_tag, refund_address_set_at ON public.exchange_order FOR EACH ROW WHEN ((((old.refund_address IS DISTINCT FROM new.refund_address) OR (old.refund_address_tag IS DISTINCT FROM new.refund_address_tag)) OR (old.refund_address_set_at IS DISTINCT FROM new.refund_address_set_at))) EXECUTE FUNCTION keep_refund_address();
CREATE TRIGGER exchange_order_start BEFORE INSERT ON public.exchange_order FOR EACH ROW WHEN ((new.status <> 'waiting_deposit'::text)) EXECUTE FUNCTION check_order_start();

create table exposure_share (
  process uuid not null,
  usd numeric(38,18) not null,
  until timestamp with time zone not null,
  constraint exposure_share_pkey PRIMARY KEY (process),
  constraint exposure_share_usd_check CHECK ((usd >= (0)::numeric))
);

create table fixed_result (
  partner_id uuid not null,
  hour timestamp with time zone not null,
  orders integer not null,
  sent_usd numeric(38,18) not null,
  owed_usd numeric(38,18) not null,
  fees_usd numeric(38,18) not null,
  constraint fixed_result_pkey PRIMARY KEY (partner_id, hour),
  constraint fixed_result_fees_usd_check CHECK ((fees_usd >= (0)::numeric)),
  constraint fixed_result_orders_check CHECK ((orders > 0)),
  constraint fixed_result_owed_usd_check CHECK ((owed_usd > (0)::numeric)),
  constraint fixed_result_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint fixed_result_sent_usd_check CHECK ((sent_usd > (0)::numeric))
);
CREATE INDEX fixed_result_hour ON public.fixed_result USING btree (hour);

create table fixed_turnover (
  partner_id uuid not null,
  slot timestamp with time zone not null,
  usd numeric(38,18) not null,
  constraint fixed_turnover_pkey PRIMARY KEY (partner_id, slot),
  constraint fixed_turnover_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint fixed_turnover_usd_check CHECK ((usd > (0)::numeric))
);
CREATE INDEX fixed_turnover_slot ON public.fixed_turnover USING btree (slot);

create table fixed_turnover_all (
  slot timestamp with time zone not null,
  usd numeric(38,18) not null,
  room numeric(38,18) not null,
  constraint fixed_turnover_all_pkey PRIMARY KEY (slot),
  constraint fixed_turnover_all_room CHECK ((usd <= room)),
  constraint fixed_turnover_all_usd_check CHECK ((usd > (0)::numeric))
);

create table history_turn (
  only_row boolean not null default true,
  taken_at timestamp with time zone not null,
  constraint history_turn_pkey PRIMARY KEY (only_row),
  constraint history_turn_only_row_check CHECK (only_row)
);

create table idempotency_key (
  partner_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  order_id uuid,
  status integer not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint idempotency_key_pkey PRIMARY KEY (partner_id, key),
  constraint idempotency_key_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_key_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
  constraint idempotency_key_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint idempotency_key_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);
CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (created_at);

create table key_refusal (
  key_id text not null,
  hour timestamp with time zone not null,
  refused bigint not null,
  limited bigint not null,
  constraint key_refusal_pkey PRIMARY KEY (key_id, hour),
  constraint key_refusal_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(key_id),
  constraint key_refusal_limited_check CHECK ((limited >= 0)),
  constraint key_refusal_refused_check CHECK ((refused >= 0))
);
CREATE INDEX key_refusal_hour ON public.key_refusal USING btree (hour);

create table late_refund (
  payment_id uuid not null,
  partner_id uuid not null,
  at timestamp with time zone not null,
  usd numeric(24,2) not null,
  constraint late_refund_pkey PRIMARY KEY (payment_id),
  constraint late_refund_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint late_refund_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id),
  constraint late_refund_usd_check CHECK ((usd >= (0)::numeric))
);
CREATE INDEX late_refund_partner ON public.late_refund USING btree (partner_id, at);
CREATE TRIGGER late_refund_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.late_refund FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table ledger_line (
  transaction_id uuid not null,
  line integer not null,
  account text not null,
  coin text not null,
  network text not null,
  amount numeric(38,18) not null,
  constraint ledger_line_pkey PRIMARY KEY (transaction_id, line),
  constraint ledger_line_account_check CHECK (((account = ANY (ARRAY['deposits'::text, 'hot'::text, 'client'::text, 'venue'::text, 'service_fee'::text, 'network_fee'::text, 'network_cost'::text, 'trading'::text, 'unclaimed'::text, 'suspense'::text, 'opening'::text, 'markup'::text, 'transit'::text, 'treasury_cost'::text])) OR (account ~ '^venue:[a-z0-9_]{1,40}$'::text) OR (account ~ '^partner:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'::text))) NOT VALID,
  constraint ledger_line_amount_check CHECK ((amount <> (0)::numeric)),
  constraint ledger_line_line_check CHECK ((line > 0)),
  constraint ledger_line_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transaction(id)
);
CREATE INDEX ledger_line_account ON public.ledger_line USING btree (account, coin, network) INCLUDE (amount);
CREATE TRIGGER ledger_line_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_line FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE CONSTRAINT TRIGGER ledger_zero_sum AFTER INSERT ON public.ledger_line DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_balanced();

create table ledger_transaction (
  id uuid not null,
  kind text not null,
  reference text not null,
  order_id uuid,
  at timestamp with time zone not null,
  constraint ledger_transaction_pkey PRIMARY KEY (id),
  constraint ledger_transaction_kind_reference_key UNIQUE (kind, reference),
  constraint ledger_transaction_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id)
);
CREATE INDEX ledger_transaction_at ON public.ledger_transaction USING brin (at) WITH (autosummarize='on');
CREATE INDEX ledger_transaction_order ON public.ledger_transaction USING btree (order_id);
CREATE TRIGGER ledger_transaction_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_transaction FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table left_out_transfer (
  id bigint not null,
  chain text not null,
  key text not null,
  txid text not null,
  address text not null,
  contract text,
  amount text not null,
  height bigint,
  reason text not null,
  seen_at timestamp with time zone not null,
  acknowledged_at timestamp with time zone,
  constraint left_out_transfer_pkey PRIMARY KEY (id),
  constraint left_out_transfer_chain_key_reason_key UNIQUE (chain, key, reason)
);
CREATE INDEX left_out_transfer_open ON public.left_out_transfer USING btree (seen_at) WHERE (acknowledged_at IS NULL);

create table order_action (
  order_id uuid not null,
  seq integer not null,
  reason text not null,
  deposit_id uuid not null,
  amount numeric(38,18) not null,
  amount_from numeric(38,18) not null,
  asked_at timestamp with time zone not null,
  deadline timestamp with time zone not null,
  outcome text,
  ended_at timestamp with time zone,
  actor text,
  amount_to numeric(38,18),
  service_fee numeric(38,18),
  network_fee numeric(38,18),
  constraint order_action_pkey PRIMARY KEY (order_id, seq),
  constraint order_action_amount_check CHECK ((amount > (0)::numeric)),
  constraint order_action_amount_to_check CHECK ((amount_to > (0)::numeric)),
  constraint order_action_check CHECK (((amount_from > (0)::numeric) AND (amount_from <= amount))),
  constraint order_action_check1 CHECK ((deadline >= asked_at)),
  constraint order_action_check2 CHECK ((((outcome IS NULL) = (ended_at IS NULL)) AND ((outcome IS NULL) = (actor IS NULL)))),
  constraint order_action_check3 CHECK ((((NOT (outcome IS DISTINCT FROM 'exchange'::text)) = (amount_to IS NOT NULL)) AND ((amount_to IS NULL) = (service_fee IS NULL)) AND ((amount_to IS NULL) = (network_fee IS NULL)))),
  constraint order_action_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposit(id),
  constraint order_action_network_fee_check CHECK ((network_fee >= (0)::numeric)),
  constraint order_action_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_action_order_id_seq_fkey FOREIGN KEY (order_id, seq) REFERENCES order_event(order_id, seq) DEFERRABLE INITIALLY DEFERRED,
  constraint order_action_outcome_check CHECK ((outcome = ANY (ARRAY['exchange'::text, 'refund'::text, 'deadline'::text, 'deposit_lost'::text]))),
  constraint order_action_reason_check CHECK ((reason = ANY (ARRAY['late'::text, 'underpaid'::text, 'overpaid'::text, 'price_moved'::text]))),
  constraint order_action_service_fee_check CHECK ((service_fee >= (0)::numeric))
);
CREATE INDEX order_action_deadline ON public.order_action USING btree (deadline) WHERE (outcome IS NULL);
CREATE UNIQUE INDEX order_action_open ON public.order_action USING btree (order_id) WHERE (outcome IS NULL);
CREATE TRIGGER order_action_ends_once BEFORE UPDATE ON public.order_action FOR EACH ROW EXECUTE FUNCTION keep_order_action();
CREATE TRIGGER order_action_kept BEFORE DELETE OR TRUNCATE ON public.order_action FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table order_event (
  order_id uuid not null,
  seq integer not null,
  at timestamp with time zone not null,
  from_status text,
  to_status text not null,
  cause text not null,
  actor text not null,
  detail text,
  xid xid8 not null default pg_current_xact_id(),
  partner_id uuid not null,
  constraint order_event_pkey PRIMARY KEY (order_id, seq),
  constraint order_event_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_event_seq_check CHECK ((seq > 0))
);
CREATE INDEX order_event_feed ON public.order_event USING btree (xid, order_id, seq);
CREATE INDEX order_event_partner ON public.order_event USING btree (partner_id, xid, order_id, seq);
CREATE TRIGGER order_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.order_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER order_event_follows BEFORE INSERT ON public.order_event FOR EACH ROW WHEN (((new.seq <> 1) OR (new.from_status IS NOT NULL))) EXECUTE FUNCTION check_order_event();

create table order_note (
  id uuid not null,
  order_id uuid not null,
  staff_id uuid not null,
  at timestamp with time zone not null,
  text text not null,
  constraint order_note_pkey PRIMARY KEY (id),
  constraint order_note_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_note_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id),
  constraint order_note_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);
CREATE INDEX order_note_order ON public.order_note USING btree (order_id, id);
CREATE TRIGGER order_note_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.order_note FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table order_page (
  order_id uuid not null,
  nonce bytea,
  key_version integer,
  token_hash bytea,
  changed_at timestamp with time zone not null,
  constraint order_page_pkey PRIMARY KEY (order_id),
  constraint order_page_check CHECK ((((nonce IS NULL) = (token_hash IS NULL)) AND ((nonce IS NULL) = (key_version IS NULL)))),
  constraint order_page_nonce_check CHECK ((length(nonce) = 16)),
  constraint order_page_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_page_token_hash_check CHECK ((length(token_hash) = 32))
);
CREATE UNIQUE INDEX order_page_token ON public.order_page USING btree (token_hash) WHERE (token_hash IS NOT NULL);

create table order_stat (
  grain text not null,
  dimension text not null,
  key text not null,
  at timestamp with time zone not null,
  from_status text not null default ''::text,
  to_status text not null,
  cause text not null,
  moves bigint not null,
  seconds numeric not null,
  volume_usd numeric not null,
  revenue_usd numeric not null,
  constraint order_stat_pkey PRIMARY KEY (grain, dimension, key, at, cause),
  constraint order_stat_check CHECK (((grain <> 'hour'::text) OR (dimension <> 'pair'::text))),
  constraint order_stat_dimension_check CHECK ((dimension = ANY (ARRAY['all'::text, 'partner'::text, 'pair'::text]))),
  constraint order_stat_grain_check CHECK ((grain = ANY (ARRAY['hour'::text, 'day'::text, 'month'::text])))
);
CREATE INDEX order_stat_series ON public.order_stat USING btree (grain, dimension, at) WHERE ((to_status = ANY (ARRAY['waiting_deposit'::text, 'completed'::text, 'expired'::text, 'refunded'::text, 'failed'::text])) OR (from_status = ANY (ARRAY['expired'::text, 'failed'::text])));

create table order_stat_progress (
  only_row boolean not null default true,
  xid xid8 not null,
  order_id uuid not null,
  seq integer not null,
  rolled_at timestamp with time zone,
  constraint order_stat_progress_pkey PRIMARY KEY (only_row),
  constraint order_stat_progress_only_row_check CHECK (only_row)
);

create table order_status_edge (
  from_status text not null,
  to_status text not null,
  constraint order_status_edge_pkey PRIMARY KEY (from_status, to_status)
);

create table order_terms (
  order_id uuid not null,
  partner_id uuid not null,
  external_id text,
  quote_nonce bytea,
  markup_bps integer,
  min_amount_to numeric(38,18),
  policy jsonb,
  metadata jsonb,
  quote_adverse_bps numeric(12,4),
  quote_usd numeric(38,18),
  constraint order_terms_pkey PRIMARY KEY (order_id),
  constraint order_terms_check CHECK (((quote_adverse_bps IS NULL) = (quote_usd IS NULL))),
  constraint order_terms_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 128))),
  constraint order_terms_markup_bps_check CHECK ((markup_bps >= 0)),
  constraint order_terms_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint order_terms_min_amount_to_check CHECK ((min_amount_to > (0)::numeric)),
  constraint order_terms_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint order_terms_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint order_terms_policy_check CHECK ((jsonb_typeof(policy) = 'object'::text)),
  constraint order_terms_quote_nonce_check CHECK ((length(quote_nonce) = 8)),
  constraint order_terms_quote_usd_check CHECK ((quote_usd > (0)::numeric))
);
CREATE UNIQUE INDEX order_terms_external_id ON public.order_terms USING btree (partner_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX order_terms_external_search ON public.order_terms USING btree (lower(external_id) text_pattern_ops) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX order_terms_quote ON public.order_terms USING btree (partner_id, quote_nonce) WHERE (quote_nonce IS NOT NULL);

create table order_view (
  id uuid not null,
  staff_id uuid not null,
  name text not null,
  query text not null,
  created_at timestamp with time zone not null,
  constraint order_view_pkey PRIMARY KEY (id),
  constraint order_view_name_check CHECK (((length(name) >= 1) AND (length(name) <= 40))),
  constraint order_view_query_check CHECK (((length(query) >= 1) AND (length(query) <= 1000))),
  constraint order_view_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id),
  constraint order_view_staff_id_name_key UNIQUE (staff_id, name)
);

create table own_output (
  chain text not null,
  key text not null,
  address text not null,
  amount numeric(38,0) not null,
  index bigint,
  height bigint not null,
  block_hash text not null,
  spent_txid text,
  spent_height bigint,
  spent_hash text,
  constraint own_output_pkey PRIMARY KEY (chain, key),
  constraint own_output_amount_check CHECK ((amount > (0)::numeric)),
  constraint own_output_check CHECK ((((spent_txid IS NULL) = (spent_height IS NULL)) AND ((spent_txid IS NULL) = (spent_hash IS NULL))))
);
CREATE INDEX own_output_block ON public.own_output USING btree (chain, block_hash);
CREATE INDEX own_output_spent ON public.own_output USING btree (chain, spent_hash) WHERE (spent_hash IS NOT NULL);
CREATE INDEX own_output_spent_by ON public.own_output USING btree (chain, spent_txid) WHERE (spent_txid IS NOT NULL);
CREATE INDEX own_output_unspent ON public.own_output USING btree (chain, height) WHERE (spent_txid IS NULL);

create table partner (
  id uuid not null,
  name text not null,
  status text not null,
  fee_rate_float numeric(9,6),
  fee_rate_fixed numeric(9,6),
  rate_limit_per_min integer,
  orders_limit_per_min integer,
  require_signature boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  max_open_orders integer,
  max_fixed_exposure_usd integer,
  max_fixed_day_usd integer,
  max_float_exposure_usd integer,
  keeps_fixed_caps boolean not null default false,
  public_status boolean not null default false,
  lists_limit_per_min integer,
  max_markup_bps integer,
  quote_hold_sec integer,
  quote_adverse_bps numeric(12,1),
  quote_cut_since timestamp with time zone,
  order_page boolean not null default false,
  display_name text,
  constraint partner_pkey PRIMARY KEY (id),
  constraint partner_check CHECK (((NOT order_page) OR (display_name IS NOT NULL))),
  constraint partner_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 60))),
  constraint partner_fee_rate_fixed_check CHECK (((fee_rate_fixed >= (0)::numeric) AND (fee_rate_fixed < 0.5))),
  constraint partner_fee_rate_float_check CHECK (((fee_rate_float >= (0)::numeric) AND (fee_rate_float < 0.5))),
  constraint partner_lists_limit_per_min_check CHECK ((lists_limit_per_min > 0)),
  constraint partner_max_fixed_day_usd_check CHECK ((max_fixed_day_usd > 0)),
  constraint partner_max_fixed_exposure_usd_check CHECK ((max_fixed_exposure_usd > 0)),
  constraint partner_max_float_exposure_usd_check CHECK ((max_float_exposure_usd > 0)),
  constraint partner_max_markup_bps_check CHECK (((max_markup_bps >= 0) AND (max_markup_bps <= 500))),
  constraint partner_max_open_orders_check CHECK ((max_open_orders > 0)),
  constraint partner_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint partner_orders_limit_per_min_check CHECK ((orders_limit_per_min > 0)),
  constraint partner_quote_hold_sec_check CHECK (((quote_hold_sec >= 15) AND (quote_hold_sec <= 300))),
  constraint partner_rate_limit_per_min_check CHECK ((rate_limit_per_min > 0)),
  constraint partner_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text])))
);
CREATE INDEX partner_name ON public.partner USING btree (lower(name), id);

create table partner_challenge (
  challenge text not null,
  purpose text not null,
  subject uuid,
  operation text,
  expires_at timestamp with time zone not null,
  constraint partner_challenge_pkey PRIMARY KEY (challenge),
  constraint partner_challenge_check CHECK (((purpose = 'sign_in'::text) = (subject IS NULL))),
  constraint partner_challenge_check1 CHECK (((purpose = 'confirmation'::text) = (operation IS NOT NULL))),
  constraint partner_challenge_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'invitation'::text, 'passkey'::text, 'confirmation'::text])))
);
CREATE INDEX partner_challenge_expires ON public.partner_challenge USING btree (expires_at);

create table partner_confirmation (
  token_hash bytea not null,
  session_id uuid not null,
  operation text not null,
  expires_at timestamp with time zone not null,
  constraint partner_confirmation_pkey PRIMARY KEY (token_hash),
  constraint partner_confirmation_session_id_fkey FOREIGN KEY (session_id) REFERENCES partner_session(id)
);
CREATE INDEX partner_confirmation_expires ON public.partner_confirmation USING btree (expires_at);

create table partner_invitation (
  id uuid not null,
  partner_id uuid not null,
  member_id uuid,
  name text not null,
  role text not null,
  token_hash bytea not null,
  invited_by uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint partner_invitation_pkey PRIMARY KEY (id),
  constraint partner_invitation_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES partner_member(id),
  constraint partner_invitation_member_id_fkey FOREIGN KEY (member_id) REFERENCES partner_member(id),
  constraint partner_invitation_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint partner_invitation_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint partner_invitation_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'viewer'::text]))),
  constraint partner_invitation_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX partner_invitation_open ON public.partner_invitation USING btree (partner_id, created_at) WHERE (ended_at IS NULL);

create table partner_member (
  id uuid not null,
  partner_id uuid not null,
  name text not null,
  role text not null,
  created_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  linked_by_staff_at timestamp with time zone,
  constraint partner_member_pkey PRIMARY KEY (id),
  constraint partner_member_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint partner_member_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint partner_member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'viewer'::text])))
);
CREATE INDEX partner_member_partner ON public.partner_member USING btree (partner_id, created_at) WHERE (removed_at IS NULL);

create table partner_passkey (
  id uuid not null,
  member_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint partner_passkey_pkey PRIMARY KEY (id),
  constraint partner_passkey_counter_check CHECK ((counter >= 0)),
  constraint partner_passkey_credential_id_key UNIQUE (credential_id),
  constraint partner_passkey_member_id_fkey FOREIGN KEY (member_id) REFERENCES partner_member(id),
  constraint partner_passkey_name_check CHECK ((length(name) <= 100))
);
CREATE INDEX partner_passkey_member ON public.partner_passkey USING btree (member_id);

create table partner_session (
  id uuid not null,
  member_id uuid not null,
  secret_hash bytea not null,
  network text not null,
  browser text not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint partner_session_pkey PRIMARY KEY (id),
  constraint partner_session_browser_check CHECK ((length(browser) <= 200)),
  constraint partner_session_member_id_fkey FOREIGN KEY (member_id) REFERENCES partner_member(id),
  constraint partner_session_secret_hash_key UNIQUE (secret_hash)
);
CREATE INDEX partner_session_expires ON public.partner_session USING btree (expires_at);
CREATE INDEX partner_session_member ON public.partner_session USING btree (member_id, created_at);

create table payment (
  id uuid not null,
  kind text not null,
  order_id uuid,
  deposit_id uuid,
  leg text not null,
  chain text not null,
  coin text not null,
  network text not null,
  contract text,
  address text not null,
  tag text,
  amount numeric(38,18) not null,
  fee_charged numeric(38,18) not null,
  state text not null,
  attempt integer not null default 0,
  problem text,
  problem_since timestamp with time zone,
  next_action_at timestamp with time zone,
  created_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  ended_at timestamp with time zone,
  number bigint not null,
  sources text[],
  tries integer not null default 0,
  value_usd numeric(24,2),
  begun_at timestamp with time zone,
  setup text,
  constraint payment_pkey PRIMARY KEY (id),
  constraint payment_amount_check CHECK (((amount > (0)::numeric) OR ((kind = 'setup'::text) AND (amount = (0)::numeric)))),
  constraint payment_check CHECK (((begun_at IS NULL) OR (value_usd IS NOT NULL))),
  constraint payment_check1 CHECK (((state = ANY (ARRAY['confirmed'::text, 'dead'::text])) = (ended_at IS NOT NULL))),
  constraint payment_check2 CHECK (((state = ANY (ARRAY['confirmed'::text, 'dead'::text])) = (next_action_at IS NULL))),
  constraint payment_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposit(id),
  constraint payment_fee_charged_check CHECK ((fee_charged >= (0)::numeric)),
  constraint payment_kind_check CHECK ((kind = ANY (ARRAY['payout'::text, 'refund'::text, 'sweep'::text, 'gas'::text, 'setup'::text, 'commission'::text]))),
  constraint payment_leg_check CHECK ((leg = ANY (ARRAY['main'::text, 'excess'::text]))),
  constraint payment_order_check CHECK (
CASE kind
    WHEN 'payout'::text THEN ((order_id IS NOT NULL) AND (leg = 'main'::text))
    WHEN 'refund'::text THEN true
    ELSE ((order_id IS NULL) AND (leg = 'main'::text))
END),
  constraint payment_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint payment_settles_check CHECK (((kind = ANY (ARRAY['payout'::text, 'refund'::text])) = (deposit_id IS NOT NULL))),
  constraint payment_setup_check CHECK (((kind = 'setup'::text) = (setup IS NOT NULL))),
  constraint payment_sources_check CHECK (((kind = 'sweep'::text) = (sources IS NOT NULL))),
  constraint payment_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'prepared'::text, 'signed'::text, 'sent'::text, 'confirmed'::text, 'dead'::text]))),
  constraint payment_tries_check CHECK ((tries >= 0)),
  constraint payment_value_usd_check CHECK ((value_usd >= (0)::numeric))
);
CREATE INDEX payment_address ON public.payment USING btree (lower(address) text_pattern_ops);
CREATE INDEX payment_awaits_room ON public.payment USING btree (number) INCLUDE (coin, network, problem, value_usd, next_action_at) WHERE ((state = 'ready'::text) AND (problem = ANY (ARRAY['payout_limit'::text, 'payout_limit_asset'::text])));
CREATE INDEX payment_due ON public.payment USING btree (chain, next_action_at) WHERE (next_action_at IS NOT NULL);
CREATE INDEX payment_gas_of ON public.payment USING btree (chain, address) WHERE (kind = 'gas'::text);
CREATE UNIQUE INDEX payment_gas_once ON public.payment USING btree (chain, address) WHERE ((kind = 'gas'::text) AND (state <> ALL (ARRAY['confirmed'::text, 'dead'::text])));
CREATE UNIQUE INDEX payment_once ON public.payment USING btree (deposit_id, leg) WHERE (state <> 'dead'::text);
CREATE INDEX payment_order ON public.payment USING btree (order_id);
CREATE INDEX payment_paid_twice ON public.payment USING btree (ended_at) WHERE (problem = 'paid_twice'::text);
CREATE UNIQUE INDEX payment_payout_once ON public.payment USING btree (order_id) WHERE ((kind = 'payout'::text) AND (state <> 'dead'::text));
CREATE INDEX payment_problem ON public.payment USING btree (problem_since) WHERE ((problem IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX payment_ready ON public.payment USING btree (coin, network) WHERE (state = 'ready'::text);
CREATE INDEX payment_sent ON public.payment USING btree (sent_at, id) WHERE (state = 'sent'::text);
CREATE INDEX payment_setup_dead ON public.payment USING btree (chain, ended_at) WHERE ((kind = 'setup'::text) AND (state = 'dead'::text));
CREATE UNIQUE INDEX payment_setup_once ON public.payment USING btree (chain) WHERE ((kind = 'setup'::text) AND (state <> ALL (ARRAY['confirmed'::text, 'dead'::text])));
CREATE INDEX payment_sweep_dead ON public.payment USING btree (chain, ended_at) WHERE ((kind = 'sweep'::text) AND (state = 'dead'::text));
CREATE INDEX payment_sweep_of ON public.payment USING btree (chain, sources) WHERE (kind = 'sweep'::text);
CREATE UNIQUE INDEX payment_sweep_once ON public.payment USING btree (chain, sources, COALESCE(contract, ''::text)) WHERE ((kind = 'sweep'::text) AND (state <> ALL (ARRAY['confirmed'::text, 'dead'::text])));
CREATE INDEX payment_tried ON public.payment USING btree (chain, next_action_at) WHERE ((state = 'ready'::text) AND (tries > 0));
CREATE TRIGGER payment_kept BEFORE UPDATE ON public.payment FOR EACH ROW EXECUTE FUNCTION keep_payment();
CREATE TRIGGER payment_not_removed BEFORE DELETE OR TRUNCATE ON public.payment FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table payment_attempt (
  payment_id uuid not null,
  attempt integer not null,
  chain text not null,
  payload text not null,
  reserves text[] not null,
  fee numeric(38,18) not null,
  expires_at_height bigint,
  txid text,
  raw text,
  mined_height bigint,
  prepared_at timestamp with time zone not null,
  signed_at timestamp with time zone,
  sent_at timestamp with time zone,
  dead_at timestamp with time zone,
  dead_why text,
  expires_at timestamp with time zone,
  constraint payment_attempt_pkey PRIMARY KEY (payment_id, attempt),
  constraint payment_attempt_attempt_check CHECK ((attempt > 0)),
  constraint payment_attempt_chain_txid_key UNIQUE (chain, txid),
  constraint payment_attempt_check CHECK (((txid IS NULL) = (raw IS NULL))),
  constraint payment_attempt_check1 CHECK (((sent_at IS NULL) OR (raw IS NOT NULL))),
  constraint payment_attempt_check2 CHECK (((dead_at IS NULL) = (dead_why IS NULL))),
  constraint payment_attempt_fee_check CHECK ((fee >= (0)::numeric)),
  constraint payment_attempt_one_expiry CHECK (((expires_at IS NULL) OR (expires_at_height IS NULL))),
  constraint payment_attempt_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id),
  constraint payment_attempt_reserves_check CHECK ((cardinality(reserves) > 0))
);
CREATE INDEX payment_attempt_alive ON public.payment_attempt USING btree (payment_id) WHERE (dead_at IS NULL);
CREATE INDEX payment_attempt_signed ON public.payment_attempt USING btree (chain, signed_at) WHERE (signed_at IS NOT NULL);
CREATE INDEX payment_attempt_txid ON public.payment_attempt USING btree (lower(txid) text_pattern_ops) WHERE (txid IS NOT NULL);
CREATE TRIGGER payment_attempt_family BEFORE INSERT ON public.payment_attempt FOR EACH ROW EXECUTE FUNCTION check_attempt_family();
CREATE TRIGGER payment_attempt_kept BEFORE UPDATE ON public.payment_attempt FOR EACH ROW EXECUTE FUNCTION keep_attempt();
CREATE TRIGGER payment_attempt_not_removed BEFORE DELETE OR TRUNCATE ON public.payment_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table payment_reservation (
  chain text not null,
  resource text not null,
  payment_id uuid not null,
  attempt integer not null,
  released_at timestamp with time zone,
  constraint payment_reservation_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id)
);
CREATE UNIQUE INDEX payment_reservation_held ON public.payment_reservation USING btree (chain, resource) WHERE (released_at IS NULL);
CREATE INDEX payment_reservation_payment ON public.payment_reservation USING btree (payment_id);

create table payout_hold (
  id uuid not null,
  coin text,
  network text,
  cause text not null,
  detail text not null,
  findings text[] not null,
  opened_at timestamp with time zone not null,
  opened_by uuid,
  found_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  cleared_at timestamp with time zone,
  closed_at timestamp with time zone,
  proposed_by uuid,
  closed_by uuid,
  acknowledged boolean not null default false,
  constraint payout_hold_pkey PRIMARY KEY (id),
  constraint payout_hold_cause_check CHECK ((cause = ANY (ARRAY['reconciliation'::text, 'client_debit'::text, 'venue_loss'::text, 'staff'::text]))),
  constraint payout_hold_check CHECK (((coin IS NULL) = (network IS NULL))),
  constraint payout_hold_check1 CHECK (((cause = 'staff'::text) OR (opened_by IS NULL))),
  constraint payout_hold_check2 CHECK ((((closed_at IS NULL) = (closed_by IS NULL)) AND ((closed_at IS NULL) = (proposed_by IS NULL)))),
  constraint payout_hold_check3 CHECK ((closed_by <> proposed_by)),
  constraint payout_hold_closed_by_fkey FOREIGN KEY (closed_by) REFERENCES staff_member(id),
  constraint payout_hold_opened_by_fkey FOREIGN KEY (opened_by) REFERENCES staff_member(id),
  constraint payout_hold_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES staff_member(id)
);
CREATE INDEX payout_hold_acknowledged ON public.payout_hold USING btree (cause, closed_at) WHERE acknowledged;
CREATE UNIQUE INDEX payout_hold_open ON public.payout_hold USING btree (cause, coin, network) NULLS NOT DISTINCT WHERE (closed_at IS NULL);
CREATE TRIGGER payout_hold_not_removed BEFORE DELETE OR TRUNCATE ON public.payout_hold FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table payout_share_spent (
  share text not null,
  coin text not null,
  network text not null,
  minute timestamp with time zone not null,
  usd numeric(24,2) not null,
  constraint payout_share_spent_pkey PRIMARY KEY (share, coin, network, minute),
  constraint payout_share_spent_usd_check CHECK ((usd >= (0)::numeric))
);
CREATE INDEX payout_share_spent_minute ON public.payout_share_spent USING btree (minute);

create table payout_spent (
  coin text not null,
  network text not null,
  minute timestamp with time zone not null,
  usd numeric(24,2) not null,
  constraint payout_spent_pkey PRIMARY KEY (coin, network, minute),
  constraint payout_spent_usd_check CHECK ((usd >= (0)::numeric))
);

create table payout_watch (
  only_row boolean not null default true,
  looked_at timestamp with time zone,
  constraint payout_watch_pkey PRIMARY KEY (only_row),
  constraint payout_watch_only_row_check CHECK (only_row)
);

create table price_override (
  id uuid not null,
  coin_from text not null,
  coin_to text not null,
  price numeric(38,18) not null,
  staff_id uuid not null,
  created_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint price_override_pkey PRIMARY KEY (id),
  constraint price_override_check CHECK ((ends_at > created_at)),
  constraint price_override_check1 CHECK ((coin_from <> coin_to)),
  constraint price_override_price_check CHECK ((price > (0)::numeric)),
  constraint price_override_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id)
);
CREATE UNIQUE INDEX price_override_live ON public.price_override USING btree (coin_from, coin_to) WHERE (ended_at IS NULL);

create table price_window (
  starts_at timestamp with time zone not null,
  fixed jsonb not null,
  reference jsonb not null,
  overrides jsonb not null,
  depth jsonb not null default '{}'::jsonb,
  constraint price_window_pkey PRIMARY KEY (starts_at)
);

create table quote_result (
  partner_id uuid not null,
  hour timestamp with time zone not null,
  orders integer not null,
  usd numeric(38,18) not null,
  adverse_usd numeric(38,18) not null,
  paid_usd numeric(38,18) not null,
  paid_adverse_usd numeric(38,18) not null,
  constraint quote_result_pkey PRIMARY KEY (partner_id, hour),
  constraint quote_result_orders_check CHECK ((orders > 0)),
  constraint quote_result_paid_usd_check CHECK ((paid_usd >= (0)::numeric)),
  constraint quote_result_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint quote_result_usd_check CHECK ((usd > (0)::numeric))
);
CREATE INDEX quote_result_hour ON public.quote_result USING btree (hour);

create table reconciliation (
  due_at timestamp with time zone not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  checks integer,
  differences jsonb,
  constraint reconciliation_pkey PRIMARY KEY (due_at),
  constraint reconciliation_check CHECK ((((ended_at IS NULL) = (checks IS NULL)) AND ((ended_at IS NULL) = (differences IS NULL)))),
  constraint reconciliation_checks_check CHECK ((checks >= 0))
);

create table sandbox_account (
  chain text not null,
  address text not null,
  nonce bigint not null default 0,
  constraint sandbox_account_pkey PRIMARY KEY (chain, address),
  constraint sandbox_account_chain_fkey FOREIGN KEY (chain) REFERENCES sandbox_chain(chain)
);

create table sandbox_balance (
  chain text not null,
  address text not null,
  contract text not null,
  amount numeric(78,0) not null,
  constraint sandbox_balance_pkey PRIMARY KEY (chain, address, contract),
  constraint sandbox_balance_amount_check CHECK ((amount >= (0)::numeric)),
  constraint sandbox_balance_chain_address_fkey FOREIGN KEY (chain, address) REFERENCES sandbox_account(chain, address)
);

create table sandbox_block (
  chain text not null,
  height bigint not null,
  hash text not null,
  parent text not null,
  mined_at timestamp with time zone not null,
  constraint sandbox_block_pkey PRIMARY KEY (chain, height),
  constraint sandbox_block_chain_fkey FOREIGN KEY (chain) REFERENCES sandbox_chain(chain)
);

create table sandbox_chain (
  chain text not null,
  height bigint not null default 0,
  busy_until bigint not null default 0,
  mined_at timestamp with time zone,
  constraint sandbox_chain_pkey PRIMARY KEY (chain)
);

create table sandbox_deposits (
  order_id uuid not null,
  count integer not null,
  constraint sandbox_deposits_pkey PRIMARY KEY (order_id),
  constraint sandbox_deposits_count_check CHECK ((count > 0)),
  constraint sandbox_deposits_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id)
);

create table sandbox_fill (
  client_id text not null,
  sell_coin text not null,
  sell_amount numeric(38,18) not null,
  buy_coin text not null,
  bought numeric(38,18) not null,
  at timestamp with time zone not null,
  constraint sandbox_fill_pkey PRIMARY KEY (client_id)
);

create table sandbox_inventory (
  coin text not null,
  amount numeric(38,18) not null,
  constraint sandbox_inventory_pkey PRIMARY KEY (coin),
  constraint sandbox_inventory_amount_check CHECK ((amount >= (0)::numeric))
);

create table sandbox_outcome (
  order_id uuid not null,
  outcome text not null,
  at timestamp with time zone not null,
  constraint sandbox_outcome_pkey PRIMARY KEY (order_id, outcome),
  constraint sandbox_outcome_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint sandbox_outcome_outcome_check CHECK ((outcome = ANY (ARRAY['venue_rejects'::text, 'venue_silent'::text, 'payout_dead'::text, 'payout_unknown'::text, 'refund_dead'::text, 'fee_spike'::text, 'would_fail'::text, 'gas_above_maximum'::text, 'token_refused'::text, 'signer_unavailable'::text])))
);

create table sandbox_place (
  only_row boolean not null default true,
  cursor text not null,
  constraint sandbox_place_pkey PRIMARY KEY (only_row),
  constraint sandbox_place_only_row_check CHECK (only_row)
);

create table sandbox_price (
  coin text not null,
  price numeric(38,18) not null,
  set_at timestamp with time zone not null,
  constraint sandbox_price_pkey PRIMARY KEY (coin),
  constraint sandbox_price_price_check CHECK ((price > (0)::numeric))
);

create table sandbox_refusing (
  chain text not null,
  address text not null,
  constraint sandbox_refusing_pkey PRIMARY KEY (chain, address)
);

create table sandbox_tx (
  chain text not null,
  txid text not null,
  sender text,
  nonce bigint,
  recipient text not null,
  tag text,
  contract text,
  amount numeric(78,0) not null,
  fee numeric(78,0) not null,
  raw text,
  state text not null,
  height bigint,
  success boolean,
  seen_at timestamp with time zone not null,
  seq bigint not null,
  minted boolean not null default false,
  forced boolean not null default false,
  expires_at_height bigint,
  expires_at timestamp with time zone,
  unusual boolean not null default false,
  constraint sandbox_tx_pkey PRIMARY KEY (chain, txid),
  constraint sandbox_tx_amount_check CHECK ((amount > (0)::numeric)),
  constraint sandbox_tx_chain_fkey FOREIGN KEY (chain) REFERENCES sandbox_chain(chain),
  constraint sandbox_tx_check CHECK (((state = 'mined'::text) = (height IS NOT NULL))),
  constraint sandbox_tx_check1 CHECK (((state = 'mined'::text) = (success IS NOT NULL))),
  constraint sandbox_tx_fee_check CHECK ((fee >= (0)::numeric)),
  constraint sandbox_tx_nonce CHECK (((sender IS NOT NULL) OR (nonce IS NULL))),
  constraint sandbox_tx_state_check CHECK ((state = ANY (ARRAY['mempool'::text, 'mined'::text, 'dropped'::text])))
);
CREATE INDEX sandbox_tx_block ON public.sandbox_tx USING btree (chain, height) WHERE (state = 'mined'::text);
CREATE INDEX sandbox_tx_mempool ON public.sandbox_tx USING btree (chain, seq) WHERE (state = 'mempool'::text);
CREATE INDEX sandbox_tx_recipient ON public.sandbox_tx USING btree (chain, recipient);
CREATE INDEX sandbox_tx_sender ON public.sandbox_tx USING btree (chain, sender, nonce) WHERE (sender IS NOT NULL);

create table sandbox_venue (
  name text not null,
  state jsonb not null,
  constraint sandbox_venue_pkey PRIMARY KEY (name)
);

create table setting (
  name text not null,
  value text not null,
  constraint setting_pkey PRIMARY KEY (name)
);

create table small_deposit_day (
  chain text not null,
  day date not null,
  deposits bigint not null,
  first_at timestamp with time zone not null,
  constraint small_deposit_day_pkey PRIMARY KEY (chain, day),
  constraint small_deposit_day_deposits_check CHECK ((deposits > 0))
);
CREATE INDEX small_deposit_day_newest ON public.small_deposit_day USING btree (first_at);

create table staff_action (
  id uuid not null,
  action text not null,
  order_id uuid,
  deposit_id uuid,
  address text,
  tag text,
  reason text not null,
  state text not null,
  proposed_by uuid not null,
  proposed_at timestamp with time zone not null,
  decided_by uuid,
  decided_at timestamp with time zone,
  price numeric(38,18),
  hold_id uuid,
  acknowledges boolean not null default false,
  venue text,
  movement_kind text,
  reference text,
  coin text,
  amount numeric(38,18),
  class text,
  evidence text,
  partner_id uuid,
  month date,
  network text,
  corrects uuid,
  old_is_lost boolean not null default false,
  constraint staff_action_pkey PRIMARY KEY (id),
  constraint staff_action_action_check CHECK ((action = ANY (ARRAY['refund'::text, 'retry_payout'::text, 'mark_failed'::text, 'hold'::text, 'release'::text, 'venue_price'::text, 'resume_payouts'::text, 'venue_opening'::text, 'venue_classify'::text, 'assign_deposit'::text, 'commission_hold'::text, 'commission_release'::text, 'commission_correct'::text, 'commission_pay'::text, 'commission_cancel'::text, 'commission_address'::text]))),
  constraint staff_action_amount_check CHECK ((amount <> (0)::numeric)),
  constraint staff_action_assignment CHECK (((action <> 'assign_deposit'::text) OR (num_nonnulls(order_id, deposit_id, evidence) = 3))),
  constraint staff_action_check1 CHECK (((state = 'proposed'::text) = (decided_at IS NULL))),
  constraint staff_action_check3 CHECK (((action = 'venue_price'::text) = (price IS NOT NULL))),
  constraint staff_action_class CHECK (
CASE action
    WHEN 'venue_classify'::text THEN ((class IS NOT NULL) AND ((reference IS NULL) = (movement_kind IS NULL)) AND ((reference IS NULL) = ((coin IS NOT NULL) AND (amount IS NOT NULL))))
    WHEN 'venue_opening'::text THEN (num_nonnulls(class, movement_kind, coin, amount) = 0)
    WHEN 'commission_correct'::text THEN ((num_nonnulls(coin, network, amount) = 3) AND (num_nonnulls(class, movement_kind, reference, month) = 0))
    WHEN 'commission_address'::text THEN ((num_nonnulls(coin, network, address) = 3) AND (num_nonnulls(class, movement_kind, reference, amount, month) = 0))
    ELSE (num_nonnulls(class, movement_kind, reference, coin, amount, network) = 0)
END),
  constraint staff_action_class_check CHECK ((class = ANY (ARRAY['capital'::text, 'trading'::text, 'cost'::text]))),
  constraint staff_action_corrects_fkey FOREIGN KEY (corrects) REFERENCES commission_entry(id),
  constraint staff_action_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES staff_member(id),
  constraint staff_action_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposit(id),
  constraint staff_action_evidence_check CHECK (((length(evidence) >= 1) AND (length(evidence) <= 4000))),
  constraint staff_action_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES payout_hold(id),
  constraint staff_action_month CHECK (((action = ANY (ARRAY['commission_hold'::text, 'commission_release'::text, 'commission_pay'::text, 'commission_cancel'::text])) = (month IS NOT NULL))),
  constraint staff_action_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint staff_action_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint staff_action_price_check CHECK ((price > (0)::numeric)),
  constraint staff_action_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES staff_member(id),
  constraint staff_action_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000))),
  constraint staff_action_second_member CHECK (((state <> 'done'::text) OR (action = ANY (ARRAY['mark_failed'::text, 'hold'::text, 'commission_hold'::text])) OR (decided_by IS DISTINCT FROM proposed_by))),
  constraint staff_action_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'done'::text, 'rejected'::text]))),
  constraint staff_action_subject CHECK (
CASE
    WHEN (action = 'resume_payouts'::text) THEN ((hold_id IS NOT NULL) AND (num_nonnulls(venue, order_id, deposit_id, partner_id) = 0))
    WHEN (action = ANY (ARRAY['venue_opening'::text, 'venue_classify'::text])) THEN ((venue IS NOT NULL) AND (num_nonnulls(hold_id, order_id, deposit_id, partner_id) = 0))
    WHEN (action ~~ like_escape('commission!_%'::text, '!'::text)) THEN ((partner_id IS NOT NULL) AND (num_nonnulls(hold_id, venue, order_id, deposit_id) = 0))
    ELSE ((num_nonnulls(hold_id, venue, partner_id) = 0) AND (num_nonnulls(order_id, deposit_id) >= 1))
END),
  constraint staff_action_venue_fkey FOREIGN KEY (venue) REFERENCES venue_account(venue)
);
CREATE INDEX staff_action_decided ON public.staff_action USING btree (decided_at DESC, id DESC) WHERE (decided_at IS NOT NULL);
CREATE INDEX staff_action_open ON public.staff_action USING btree (proposed_at) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX staff_action_open_once ON public.staff_action USING btree (action, order_id, deposit_id, hold_id, venue, movement_kind, (
CASE
    WHEN (action = 'venue_classify'::text) THEN reference
    ELSE NULL::text
END), coin, partner_id, month) NULLS NOT DISTINCT WHERE ((state = 'proposed'::text) AND (action = ANY (ARRAY['refund'::text, 'retry_payout'::text, 'release'::text, 'venue_price'::text, 'resume_payouts'::text, 'venue_opening'::text, 'venue_classify'::text, 'assign_deposit'::text, 'commission_release'::text, 'commission_correct'::text, 'commission_pay'::text, 'commission_cancel'::text, 'commission_address'::text])));
CREATE INDEX staff_action_order ON public.staff_action USING btree (order_id);
CREATE INDEX staff_action_partner ON public.staff_action USING btree (partner_id) WHERE (partner_id IS NOT NULL);

create table staff_change (
  id uuid not null,
  change text not null,
  member_id uuid,
  email text,
  role text,
  reason text not null,
  state text not null,
  alone boolean not null,
  proposed_by uuid not null,
  proposed_at timestamp with time zone not null,
  decided_by uuid,
  decided_at timestamp with time zone,
  constraint staff_change_pkey PRIMARY KEY (id),
  constraint staff_change_change_check CHECK ((change = ANY (ARRAY['invite'::text, 'role'::text, 'token'::text, 'revoke'::text]))),
  constraint staff_change_check CHECK (((change = 'invite'::text) = (email IS NOT NULL))),
  constraint staff_change_check1 CHECK (((change = 'invite'::text) OR (member_id IS NOT NULL))),
  constraint staff_change_check2 CHECK (((change = ANY (ARRAY['invite'::text, 'role'::text])) = (role IS NOT NULL))),
  constraint staff_change_check3 CHECK (((state = 'proposed'::text) = (decided_at IS NULL))),
  constraint staff_change_check4 CHECK (((state <> 'done'::text) OR alone OR (decided_by IS DISTINCT FROM proposed_by))),
  constraint staff_change_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES staff_member(id),
  constraint staff_change_member_id_fkey FOREIGN KEY (member_id) REFERENCES staff_member(id),
  constraint staff_change_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES staff_member(id),
  constraint staff_change_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000))),
  constraint staff_change_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'operator'::text, 'admin'::text]))),
  constraint staff_change_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'done'::text, 'rejected'::text])))
);
CREATE INDEX staff_change_open ON public.staff_change USING btree (proposed_at) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX staff_change_open_once ON public.staff_change USING btree (change, member_id, email) NULLS NOT DISTINCT WHERE (state = 'proposed'::text);

create table staff_member (
  id uuid not null,
  email text not null,
  role text not null,
  token_id text,
  token_mac bytea,
  pepper_version integer,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  approves_from timestamp with time zone,
  suspended_at timestamp with time zone,
  oidc_subject text,
  enrolment_hash bytea,
  enrolment_ends_at timestamp with time zone,
  constraint staff_member_pkey PRIMARY KEY (id),
  constraint staff_member_check CHECK (((enrolment_hash IS NULL) = (enrolment_ends_at IS NULL))),
  constraint staff_member_email_check CHECK ((email = lower(email))),
  constraint staff_member_email_key UNIQUE (email),
  constraint staff_member_enrolment_hash_key UNIQUE (enrolment_hash),
  constraint staff_member_oidc_subject_key UNIQUE (oidc_subject),
  constraint staff_member_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'operator'::text, 'admin'::text]))),
  constraint staff_member_token_id_key UNIQUE (token_id),
  constraint staff_member_token_mac_check CHECK ((length(token_mac) = 32)),
  constraint staff_member_whole_token CHECK ((num_nulls(token_id, token_mac, pepper_version) = ANY (ARRAY[0, 3])))
);

create table staff_session (
  id uuid not null,
  secret_hash bytea not null,
  staff_id uuid not null,
  via text not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint staff_session_pkey PRIMARY KEY (id),
  constraint staff_session_check CHECK (((expires_at > created_at) AND (last_seen_at >= created_at))),
  constraint staff_session_secret_hash_check CHECK ((length(secret_hash) = 32)),
  constraint staff_session_secret_hash_key UNIQUE (secret_hash),
  constraint staff_session_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff_member(id),
  constraint staff_session_via_check CHECK ((via = ANY (ARRAY['token'::text, 'oidc'::text])))
);
CREATE INDEX staff_session_old ON public.staff_session USING btree (expires_at);
CREATE INDEX staff_session_open ON public.staff_session USING btree (staff_id, created_at) WHERE (ended_at IS NULL);

create table staff_sign_in (
  browser_hash bytea not null,
  state text not null,
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  expires_at timestamp with time zone not null,
  constraint staff_sign_in_pkey PRIMARY KEY (browser_hash),
  constraint staff_sign_in_browser_hash_check CHECK ((length(browser_hash) = 32))
);
CREATE INDEX staff_sign_in_old ON public.staff_sign_in USING btree (expires_at);

create table sweep_refusal (
  chain text not null,
  source text not null,
  contract text,
  coin text not null,
  network text not null,
  problem text not null,
  since timestamp with time zone not null,
  tries integer not null,
  again_at timestamp with time zone not null,
  constraint sweep_refusal_tries_check CHECK ((tries > 0))
);
CREATE UNIQUE INDEX sweep_refusal_once ON public.sweep_refusal USING btree (chain, source, contract) NULLS NOT DISTINCT;
CREATE INDEX sweep_refusal_since ON public.sweep_refusal USING btree (since);

create table trade (
  order_id uuid not null,
  venue text not null,
  state text not null,
  coin_from text not null,
  network_from text not null,
  coin_to text not null,
  network_to text not null,
  amount_from numeric(38,18) not null,
  amount_to numeric(38,18) not null,
  service_fee numeric(38,18) not null,
  network_fee numeric(38,18) not null,
  min_bought numeric(38,18) not null,
  bought numeric(38,18),
  tries integer not null default 0,
  problem text,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  price_from numeric(38,18) not null,
  price_to numeric(38,18) not null,
  market_from numeric(38,18),
  market_to numeric(38,18),
  market_cash numeric(38,18),
  max_loss numeric(38,18),
  constraint trade_pkey PRIMARY KEY (order_id),
  constraint trade_amount_from_check CHECK ((amount_from > (0)::numeric)),
  constraint trade_amount_to_check CHECK ((amount_to > (0)::numeric)),
  constraint trade_bought_check CHECK ((bought > (0)::numeric)),
  constraint trade_check CHECK (((state = ANY (ARRAY['filled'::text, 'unwound'::text])) = (bought IS NOT NULL))),
  constraint trade_market_cash_check CHECK ((market_cash > (0)::numeric)),
  constraint trade_market_from_check CHECK ((market_from > (0)::numeric)),
  constraint trade_market_to_check CHECK ((market_to > (0)::numeric)),
  constraint trade_max_loss_check CHECK ((max_loss >= (0)::numeric)),
  constraint trade_min_bought_check CHECK ((min_bought > (0)::numeric)),
  constraint trade_network_fee_check CHECK ((network_fee >= (0)::numeric)),
  constraint trade_order_id_fkey FOREIGN KEY (order_id) REFERENCES exchange_order(id),
  constraint trade_price_from_check CHECK ((price_from > (0)::numeric)),
  constraint trade_price_to_check CHECK ((price_to > (0)::numeric)),
  constraint trade_service_fee_check CHECK ((service_fee >= (0)::numeric)),
  constraint trade_state_check CHECK ((state = ANY (ARRAY['intended'::text, 'filled'::text, 'abandoned'::text, 'unwound'::text])))
);
CREATE INDEX trade_intended ON public.trade USING btree (venue) WHERE (state = 'intended'::text);
CREATE INDEX trade_settled ON public.trade USING btree (settled_at) WHERE (state = 'filled'::text);

create table treasury_transfer (
  id uuid not null,
  venue text not null,
  movement_kind text not null,
  reference text not null,
  coin text not null,
  network text not null,
  chain text not null,
  state text not null,
  amount numeric(38,18) not null,
  gas numeric(38,18) not null default 0,
  booked_amount numeric(38,18) not null default 0,
  booked_fee numeric(38,18) not null default 0,
  arrived numeric(38,18) not null default 0,
  written_off numeric(38,18) not null default 0,
  accepted_rest numeric(38,18) not null default 0,
  entries integer not null default 0,
  problem text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint treasury_transfer_pkey PRIMARY KEY (id),
  constraint treasury_transfer_amount_check CHECK ((amount > (0)::numeric)),
  constraint treasury_transfer_gas_check CHECK ((gas >= (0)::numeric)),
  constraint treasury_transfer_problem_check CHECK ((problem = ANY (ARRAY['short_arrival'::text, 'arrived_after_end'::text, 'not_arrived'::text]))),
  constraint treasury_transfer_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'sent'::text, 'arrived'::text, 'done'::text, 'returned'::text]))),
  constraint treasury_transfer_venue_movement_kind_reference_fkey FOREIGN KEY (venue, movement_kind, reference) REFERENCES venue_movement(venue, kind, reference),
  constraint treasury_transfer_venue_movement_kind_reference_key UNIQUE (venue, movement_kind, reference)
);
CREATE INDEX treasury_transfer_open ON public.treasury_transfer USING btree (venue) WHERE (state <> ALL (ARRAY['done'::text, 'returned'::text]));
CREATE INDEX treasury_transfer_problem ON public.treasury_transfer USING btree (updated_at) WHERE (problem IS NOT NULL);

create table venue_account (
  venue text not null,
  is_watched boolean not null,
  watched_from timestamp with time zone not null,
  turn_at timestamp with time zone,
  listed_at timestamp with time zone,
  listed_whole_at timestamp with time zone,
  balances_at timestamp with time zone,
  opened_at timestamp with time zone,
  failing_since timestamp with time zone,
  failure text,
  constraint venue_account_pkey PRIMARY KEY (venue),
  constraint venue_account_check CHECK (((failing_since IS NULL) = (failure IS NULL))),
  constraint venue_account_venue_check CHECK ((venue ~ '^[a-z0-9_]{1,40}$'::text))
);

create table venue_balance (
  venue text not null,
  coin text not null,
  total numeric(38,18) not null,
  free numeric(38,18) not null,
  read_at timestamp with time zone not null,
  compared_total numeric(38,18),
  booked numeric(38,18),
  in_flight numeric(38,18),
  compared_at timestamp with time zone,
  differing integer not null default 0,
  differing_since timestamp with time zone,
  same_amount integer not null default 0,
  constraint venue_balance_pkey PRIMARY KEY (venue, coin),
  constraint venue_balance_check CHECK (((same_amount >= 0) AND (same_amount <= differing))),
  constraint venue_balance_check1 CHECK ((num_nulls(compared_total, booked, in_flight, compared_at) = ANY (ARRAY[0, 4]))),
  constraint venue_balance_check2 CHECK (((differing = 0) = (differing_since IS NULL))),
  constraint venue_balance_differing_check CHECK ((differing >= 0)),
  constraint venue_balance_venue_fkey FOREIGN KEY (venue) REFERENCES venue_account(venue)
);

create table venue_history (
  at timestamp with time zone not null,
  coin text not null,
  measure text not null,
  lowest numeric not null,
  highest numeric not null,
  last numeric not null,
  readings integer not null,
  constraint venue_history_pkey PRIMARY KEY (at, coin, measure),
  constraint venue_history_check CHECK (((last >= lowest) AND (last <= highest))),
  constraint venue_history_measure_check CHECK ((measure = ANY (ARRAY['balance'::text, 'stock'::text, 'buy_depth'::text, 'sell_depth'::text, 'open_usd'::text, 'held'::text, 'held_free'::text]))),
  constraint venue_history_readings_check CHECK ((readings > 0))
);

create table venue_level (
  coin text not null,
  balance numeric not null,
  seen_at timestamp with time zone not null,
  constraint venue_level_pkey PRIMARY KEY (coin)
);

create table venue_movement (
  venue text not null,
  kind text not null,
  reference text not null,
  coin text not null,
  network text,
  txid text,
  is_internal boolean not null,
  address text,
  tag text,
  amount numeric(38,18) not null,
  fee numeric(38,18) not null,
  state text not null,
  told text not null,
  at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  read_at timestamp with time zone not null,
  looked_at timestamp with time zone,
  part text not null,
  constraint venue_movement_pkey PRIMARY KEY (venue, kind, reference),
  constraint venue_movement_amount_check CHECK ((amount > (0)::numeric)),
  constraint venue_movement_check CHECK (((fee >= (0)::numeric) AND ((kind = 'deposit'::text) OR (fee < amount)))),
  constraint venue_movement_kind_check CHECK ((kind = ANY (ARRAY['deposit'::text, 'withdrawal'::text]))),
  constraint venue_movement_part_check CHECK ((part = ANY (ARRAY['open'::text, 'none'::text, 'transfer'::text, 'foreign'::text, 'classified'::text]))),
  constraint venue_movement_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
  constraint venue_movement_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'locked'::text, 'done'::text, 'returned'::text, 'unknown'::text]))),
  constraint venue_movement_venue_fkey FOREIGN KEY (venue) REFERENCES venue_account(venue)
);
CREATE INDEX venue_movement_at ON public.venue_movement USING btree (at DESC, kind, reference);
CREATE INDEX venue_movement_foreign ON public.venue_movement USING btree (seen_at) WHERE (part = 'foreign'::text);
CREATE INDEX venue_movement_open ON public.venue_movement USING btree (venue) WHERE (part = ANY (ARRAY['open'::text, 'foreign'::text]));
CREATE INDEX venue_movement_pending ON public.venue_movement USING btree (venue, at) WHERE (state = ANY (ARRAY['pending'::text, 'locked'::text, 'unknown'::text]));
CREATE INDEX venue_movement_tx ON public.venue_movement USING btree (txid) WHERE (kind = 'deposit'::text);
CREATE INDEX venue_movement_unknown ON public.venue_movement USING btree (changed_at) WHERE (state = 'unknown'::text);

create table venue_order (
  id uuid not null,
  client_id uuid not null,
  leg text not null,
  number integer not null,
  base text not null,
  quote text not null,
  side text not null,
  amount numeric(38,18) not null,
  limit_price numeric(38,18) not null,
  not_after timestamp with time zone not null,
  sent_at timestamp with time zone not null,
  state text not null,
  filled numeric(38,18),
  cost numeric(38,18),
  fees jsonb,
  constraint venue_order_pkey PRIMARY KEY (id),
  constraint venue_order_amount_check CHECK ((amount > (0)::numeric)),
  constraint venue_order_check CHECK (((state = 'closed'::text) = ((filled IS NOT NULL) AND (cost IS NOT NULL) AND (fees IS NOT NULL)))),
  constraint venue_order_client_id_fkey FOREIGN KEY (client_id) REFERENCES venue_trade(client_id),
  constraint venue_order_client_id_leg_number_key UNIQUE (client_id, leg, number),
  constraint venue_order_cost_check CHECK ((cost >= (0)::numeric)),
  constraint venue_order_filled_check CHECK ((filled >= (0)::numeric)),
  constraint venue_order_leg_check CHECK ((leg = ANY (ARRAY['main'::text, 'return'::text, 'sale'::text]))),
  constraint venue_order_limit_price_check CHECK ((limit_price > (0)::numeric)),
  constraint venue_order_number_check CHECK ((number > 0)),
  constraint venue_order_side_check CHECK ((side = ANY (ARRAY['buy'::text, 'sell'::text]))),
  constraint venue_order_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'closed'::text, 'void'::text])))
);
CREATE UNIQUE INDEX venue_order_sent ON public.venue_order USING btree (client_id, ((leg = 'sale'::text))) WHERE (state = 'sent'::text);

create table venue_trade (
  client_id uuid not null,
  venue text not null,
  sell_coin text not null,
  sell_amount numeric(38,18) not null,
  buy_coin text not null,
  buy_amount numeric(38,18) not null,
  min_buy_amount numeric(38,18) not null,
  valid_until timestamp with time zone not null,
  outcome text,
  bought numeric(38,18),
  created_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  squared_at timestamp with time zone,
  sale_tried_at timestamp with time zone,
  cash text not null,
  price_sell numeric(38,18),
  price_buy numeric(38,18),
  price_cash numeric(38,18),
  max_loss numeric(38,18),
  main_limit numeric(38,18),
  main_fee numeric(38,18),
  sale_limit numeric(38,18),
  return_limit numeric(38,18),
  constraint venue_trade_pkey PRIMARY KEY (client_id),
  constraint venue_trade_bought_check CHECK ((bought > (0)::numeric)),
  constraint venue_trade_buy_amount_check CHECK ((buy_amount > (0)::numeric)),
  constraint venue_trade_check CHECK (((outcome IS NULL) = (decided_at IS NULL))),
  constraint venue_trade_check1 CHECK (((bought IS NOT NULL) = (NOT (outcome IS DISTINCT FROM 'filled'::text)))),
  constraint venue_trade_check2 CHECK (((main_limit IS NULL) = (main_fee IS NULL))),
  constraint venue_trade_check3 CHECK (((squared_at IS NULL) OR (outcome IS NOT NULL))),
  constraint venue_trade_main_fee_check CHECK ((main_fee >= (0)::numeric)),
  constraint venue_trade_main_limit_check CHECK ((main_limit > (0)::numeric)),
  constraint venue_trade_max_loss_check CHECK ((max_loss >= (0)::numeric)),
  constraint venue_trade_min_buy_amount_check CHECK ((min_buy_amount >= (0)::numeric)),
  constraint venue_trade_outcome_check CHECK ((outcome = ANY (ARRAY['filled'::text, 'rejected'::text]))),
  constraint venue_trade_price_buy_check CHECK ((price_buy > (0)::numeric)),
  constraint venue_trade_price_cash_check CHECK ((price_cash > (0)::numeric)),
  constraint venue_trade_price_sell_check CHECK ((price_sell > (0)::numeric)),
  constraint venue_trade_return_limit_check CHECK ((return_limit >= (0)::numeric)),
  constraint venue_trade_sale_limit_check CHECK ((sale_limit > (0)::numeric)),
  constraint venue_trade_sell_amount_check CHECK ((sell_amount > (0)::numeric))
);
CREATE INDEX venue_trade_open ON public.venue_trade USING btree (venue) WHERE (squared_at IS NULL);
CREATE INDEX venue_trade_squared ON public.venue_trade USING btree (squared_at) WHERE (squared_at IS NOT NULL);
CREATE INDEX venue_trade_unsquared ON public.venue_trade USING btree (decided_at) WHERE ((outcome IS NOT NULL) AND (squared_at IS NULL));

create table wallet_history (
  at timestamp with time zone not null,
  chain text not null,
  coin text not null,
  network text not null,
  lowest numeric(38,18) not null,
  highest numeric(38,18) not null,
  last numeric(38,18) not null,
  low numeric(38,18),
  high numeric(38,18),
  readings integer not null,
  constraint wallet_history_pkey PRIMARY KEY (at, chain, coin, network),
  constraint wallet_history_check CHECK (((last >= lowest) AND (last <= highest))),
  constraint wallet_history_readings_check CHECK ((readings > 0))
);

create table wallet_level (
  chain text not null,
  coin text not null,
  network text not null,
  balance numeric(38,18) not null,
  low numeric(38,18),
  high numeric(38,18),
  level text not null,
  outside_since timestamp with time zone,
  seen_at timestamp with time zone not null,
  constraint wallet_level_pkey PRIMARY KEY (chain, coin, network),
  constraint wallet_level_check CHECK (((level = 'ok'::text) = (outside_since IS NULL))),
  constraint wallet_level_level_check CHECK ((level = ANY (ARRAY['ok'::text, 'low'::text, 'high'::text])))
);

create table webhook_allowance (
  partner_id uuid not null,
  day date not null,
  made integer not null,
  constraint webhook_allowance_pkey PRIMARY KEY (partner_id),
  constraint webhook_allowance_made_check CHECK ((made >= 0)),
  constraint webhook_allowance_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id)
);

create table webhook_delivery (
  id bigint not null,
  endpoint_id uuid not null,
  order_id uuid,
  seq integer,
  type text not null,
  generation integer not null default 0,
  state text not null,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone,
  leased_until timestamp with time zone,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  log jsonb not null default '[]'::jsonb,
  data jsonb,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_attempts_check CHECK ((attempts >= 0)),
  constraint webhook_delivery_check CHECK (((order_id IS NULL) = (seq IS NULL))),
  constraint webhook_delivery_check1 CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint webhook_delivery_check2 CHECK (((state = 'pending'::text) = (ended_at IS NULL))),
  constraint webhook_delivery_check3 CHECK (((state = 'pending'::text) OR (leased_until IS NULL))),
  constraint webhook_delivery_check4 CHECK (((data IS NULL) OR (order_id IS NULL))),
  constraint webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_delivery_created ON public.webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (endpoint_id, next_attempt_at, id) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_leased ON public.webhook_delivery USING btree (endpoint_id, leased_until) WHERE (leased_until IS NOT NULL);
CREATE INDEX webhook_delivery_newest ON public.webhook_delivery USING btree (endpoint_id, id);
CREATE UNIQUE INDEX webhook_delivery_once ON public.webhook_delivery USING btree (endpoint_id, order_id, seq, generation) WHERE (order_id IS NOT NULL);
CREATE UNIQUE INDEX webhook_delivery_recorded ON public.webhook_delivery USING btree (((data ->> 'event_id'::text)), endpoint_id, generation) WHERE (data IS NOT NULL);
CREATE INDEX webhook_delivery_recorded_open ON public.webhook_delivery USING btree (endpoint_id, ((data ->> 'event_id'::text))) WHERE ((state = 'pending'::text) AND (data IS NOT NULL));
CREATE INDEX webhook_delivery_test ON public.webhook_delivery USING btree (endpoint_id, id) WHERE ((state = 'pending'::text) AND (order_id IS NULL) AND (data IS NULL));

create table webhook_endpoint (
  id uuid not null,
  partner_id uuid not null,
  url text not null,
  types text[],
  coin_from text,
  coin_to text,
  amounts text not null,
  status text not null,
  disabled_reason text,
  disabled_at timestamp with time zone,
  secret bytea not null,
  secret_version integer not null,
  old_secret bytea,
  old_secret_version integer,
  old_secret_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  probe_at timestamp with time zone,
  is_quick boolean not null default false,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  constraint webhook_endpoint_pkey PRIMARY KEY (id),
  constraint webhook_endpoint_amounts_check CHECK ((amounts = ANY (ARRAY['string'::text, 'number'::text]))),
  constraint webhook_endpoint_check CHECK (((status = 'disabled'::text) = (disabled_reason IS NOT NULL))),
  constraint webhook_endpoint_check1 CHECK (((disabled_reason IS NULL) = (disabled_at IS NULL))),
  constraint webhook_endpoint_check2 CHECK ((((old_secret IS NULL) = (old_secret_version IS NULL)) AND ((old_secret IS NULL) = (old_secret_until IS NULL)))),
  constraint webhook_endpoint_check3 CHECK (((failures = 0) = (failing_since IS NULL))),
  constraint webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['partner'::text, 'staff'::text, 'gone'::text, 'failing'::text]))),
  constraint webhook_endpoint_failures_check CHECK ((failures >= 0)),
  constraint webhook_endpoint_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partner(id),
  constraint webhook_endpoint_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text, 'deleted'::text]))),
  constraint webhook_endpoint_types_check CHECK ((cardinality(types) > 0)),
  constraint webhook_endpoint_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);
CREATE INDEX webhook_endpoint_partner ON public.webhook_endpoint USING btree (partner_id, created_at) WHERE (status <> 'deleted'::text);

create table webhook_place (
  only_row boolean not null default true,
  xid xid8 not null,
  order_id uuid not null,
  seq integer not null,
  constraint webhook_place_pkey PRIMARY KEY (only_row),
  constraint webhook_place_only_row_check CHECK (only_row)
);

create table worker (
  id uuid not null,
  seen_at timestamp with time zone not null,
  constraint worker_pkey PRIMARY KEY (id)
);

create sequence commission_entry_number_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807;

create sequence deposit_index_block as bigint start 50 increment 50 minvalue 50 maxvalue 2147483600;

create sequence left_out_transfer_id_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807;

create sequence payment_number_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807;

create sequence sandbox_tx_seq_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807;

create sequence webhook_delivery_id_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807;

CREATE OR REPLACE FUNCTION public.check_attempt_family()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select 1 from payment_attempt a
              where a.payment_id = new.payment_id and a.dead_at is null and not (new.reserves @> a.reserves)) then
    raise exception 'two transactions of a payment could both confirm' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.check_first_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  bare uuid;
begin
  select m.id into bare from made m
   where not exists (select from order_event e where e.order_id = m.id and e.to_status = m.status)
   limit 1;
  if found then
    raise exception 'order % begins without an event', bare using errcode = 'restrict_violation';
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.check_order_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  last record;
begin
  select seq, to_status into last from order_event where order_id = new.order_id order by seq desc limit 1;
  if new.seq <> coalesce(last.seq, 0) + 1 or new.from_status is distinct from last.to_status then
    raise exception 'event % of order % does not follow its history', new.seq, new.order_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.check_order_history()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (select status from exchange_order where id = new.id) is distinct from
     (select to_status from order_event where order_id = new.id order by seq desc limit 1) then
    raise exception 'order % moved without an event', new.id using errcode = 'restrict_violation';
  end if;
  if tg_op = 'UPDATE' and new.status not in ('confirming', 'expired')
     and exists (select from order_action where order_id = new.id and outcome is null) then
    raise exception 'order % moved with an open action', new.id using errcode = 'restrict_violation';
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.check_order_move()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select 1 from order_status_edge where from_status = old.status and to_status = new.status) then
    raise exception 'an order does not go from % to %', old.status, new.status using errcode = 'restrict_violation';
  end if;
  if old.status = 'expired' and new.status = 'exchanging' and not exists (
       select from order_terms where order_id = new.id and policy ->> 'on_late' in ('market', 'ask')) then
    raise exception 'order % did not ask for the exchange of a late deposit', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.check_order_start()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.status <> 'waiting_deposit' then
    raise exception 'an order begins with waiting_deposit' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (new.payment_id, new.attempt, new.chain, new.payload, new.reserves, new.fee,
      new.expires_at_height, new.expires_at)
       is distinct from (old.payment_id, old.attempt, old.chain, old.payload, old.reserves, old.fee,
                         old.expires_at_height, old.expires_at)
     or (old.raw is not null and (new.raw, new.txid) is distinct from (old.raw, old.txid))
     -- One that counted as dead, and is found in a block after all, is alive again.
     or (old.dead_at is not null and new.dead_at is distinct from old.dead_at
         and not (new.dead_at is null and new.mined_height is not null)) then
    raise exception 'a payment attempt is written once' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_commission_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' or old.took_effect_at is not null or old.cancelled_at is not null
     or (new.id, new.partner_id, new.coin, new.network, new.address, new.tag, new.requested_at, new.member_id,
         new.action_id, new.old_is_lost)
          is distinct from (old.id, old.partner_id, old.coin, old.network, old.address, old.tag, old.requested_at,
         old.member_id, old.action_id, old.old_is_lost)
     or new.effective_at < old.effective_at or new.took_effect_at < new.effective_at then
    raise exception 'an address of commission does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_commission_statement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    raise exception 'a month of a partner stays' using errcode = 'restrict_violation';
  end if;
  if (new.partner_id, new.month) is distinct from (old.partner_id, old.month)
     -- The next payment of a month is decided once the last one has died.
     or old.payment_id is not null and new.payment_id is distinct from old.payment_id
        and not exists (select from payment where id = old.payment_id and state = 'dead')
     or old.state <> 'open' and
        ((new.coin, new.network, new.closed_at, new.figures, new.orders, new.sha256)
           is distinct from (old.coin, old.network, old.closed_at, old.figures, old.orders, old.sha256)
         or old.due is not null and new.due is distinct from old.due
            and (old.state, new.state) is distinct from ('payable', 'rolled')
         -- A balance below the minimum is paid when two members of staff say so. One that cannot be
         -- paid counts in a later month when two say so, once no payment of it can arrive.
         or new.state <> old.state
            and (old.state, new.state) not in (('rolled', 'payable'), ('payable', 'rolled'), ('payable', 'paid'))
         or old.state = 'payable' and new.state = 'rolled'
            and exists (select from payment where id = old.payment_id and state <> 'dead')) then
    raise exception 'a closed month does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_order_action()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.outcome is not null
     or (new.order_id, new.seq, new.reason, new.deposit_id, new.amount, new.amount_from, new.asked_at, new.deadline)
        is distinct from
        (old.order_id, old.seq, old.reason, old.deposit_id, old.amount, old.amount_from, old.asked_at, old.deadline)
  then
    raise exception 'action % of order % does not change', old.seq, old.order_id using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (new.kind, new.leg, new.chain, new.coin, new.network, new.address, new.amount, new.fee_charged)
       is distinct from (old.kind, old.leg, old.chain, old.coin, old.network, old.address, old.amount, old.fee_charged)
     or new.deposit_id is distinct from old.deposit_id or new.sources is distinct from old.sources
     or new.tag is distinct from old.tag or new.contract is distinct from old.contract
     or new.order_id is distinct from old.order_id or new.setup is distinct from old.setup
     or (old.state in ('confirmed', 'dead') and new.state <> old.state) then
    raise exception 'a payment goes where it was decided to go, and ends once' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.keep_refund_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.refund_address is not null or new.refund_address is null or new.refund_address_set_at is null then
    raise exception 'the refund address of order % is set once', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.ledger_balanced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select 1 from ledger_line where transaction_id = new.transaction_id
              group by coin, network having sum(amount) <> 0) then
    raise exception 'ledger transaction % does not sum to zero', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_closed_month()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from commission_statement where partner_id = new.partner_id and month = new.month and state = 'open'
    for share;
  if not found then
    raise exception 'the month of this entry is closed' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_new_identity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (new.keychain, new.index, new.address) is distinct from (old.keychain, old.index, old.address)
     or new.tag is distinct from old.tag or (old.leased_at is not null and new.leased_at is distinct from old.leased_at) then
    raise exception 'a deposit address is given once and never changes' using errcode = 'restrict_violation';
  end if;
  return new;
end $function$
;
