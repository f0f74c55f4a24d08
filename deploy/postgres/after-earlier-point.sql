-- After a restore to an earlier point, before any api process starts: no deposit address that may have been given away since is
-- given to another order. Far more indexes are skipped than orders can have been made; unused ones cost nothing.
begin;
select setval('deposit_index_block', last_value + 50 * 20000) from deposit_index_block;
update deposit_address set leased_at = now() where leased_at is null;
commit;
