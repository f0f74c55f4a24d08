// Generated from openapi.yaml by npm run generate. Do not edit.
export type paths = {
    "/currencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all active currencies
         * @description One row per coin and network, ordered by coin, then network. Answers 304 to a matching
         *     `If-None-Match`. Compressed with Brotli or gzip for clients whose `Accept-Encoding` allows
         *     it.
         */
        get: operations["listCurrencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all active assets
         * @description The rows of `GET /currencies` with their CAIP names, ordered by coin, then network. The list
         *     is never paged. Answers 304 to a matching `If-None-Match`. Compressed with Brotli or gzip
         *     for clients whose `Accept-Encoding` allows it.
         */
        get: operations["listAssets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/pairs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a coin can be exchanged for
         * @description The pairs of one source coin that can be exchanged at present, with the limits of both
         *     sides, ordered by `coin_to`, then `network_to`. The list is never paged: there is at most
         *     one pair for each asset. Name a source coin in each request.
         *
         *     With a valid partner key the limits use the partner's pricing, as `GET /partner/rates` does.
         *     Limits of `coin_to` follow the market. A list is at most five seconds old. Answers 304 to a
         *     matching `If-None-Match`. Compressed for clients whose `Accept-Encoding` allows it.
         */
        get: operations["listPairs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Quote a pair
         * @description Creates nothing and reserves nothing. With a valid partner key the quote uses the partner's
         *     pricing. Without a key, or with an invalid one, it uses the public pricing. `rate` already
         *     contains the service fee and the network fee for the requested amount, so it depends on
         *     `amount`.
         */
        get: operations["getRate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Quote a pair bindingly
         * @description Quotes exactly one of `amount_from` and `amount_to`. For `amount_to` it finds the amount to
         *     send, so that the user gets at least what was asked. The key needs the scope `rates:read` or
         *     `orders:create`. Nothing is stored and nothing is reserved.
         */
        post: operations["createQuote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/quotes/{quote_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a binding quote
         * @description The quote as it was given, with its present state. Any text that is no quote of the calling
         *     partner account gets the same 404. The key needs the scope `rates:read` or `orders:create`.
         */
        get: operations["getQuote"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/addresses/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an address
         * @description Tells whether a create would pay to the address, in which form it would use it, and what is
         *     wrong with it. An address that would be refused is no error of the request: the answer is
         *     200 with `valid: false`.
         */
        post: operations["validateAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an order
         * @description Takes the body of `POST /partner/orders`. Answers with the terms that the order would get,
         *     or with every error that the create would answer. A `quote_id` stays unused, and an
         *     `external_id` free. Nothing is created, reserved or counted against the limits of orders.
         *     Terms may change until the create.
         */
        post: operations["validateOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Only orders of the calling partner account, in pages. Each page is
         *     `{"data": [...], "has_more": true, "next_cursor": "..."}`. For the next page, send the same
         *     filters with `cursor`. A page may have fewer orders than `limit`, or none, while `has_more`
         *     is true. The reason is that a page looks at a bounded number of orders, and that an answer
         *     has at most 1 MiB.
         *
         *     `sort=created` lists the newest order first. Orders that are created meanwhile never shift
         *     the pages that follow.
         *
         *     `sort=updated` is for keeping a copy. It walks the events of the orders in the order in
         *     which they became visible for good, and names each order that moved. It always returns a
         *     `next_cursor`: keep it, and ask again later. An order that moves again appears again, so
         *     store orders by their `id`. Nothing is missed, also when transactions end late. After a
         *     restore of our data an old cursor is answered with 410. Then begin again without a cursor,
         *     with `updated_since` set to the `restart_from` of the error.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Create an order
         * @description Answers with the address to which the user sends the coins. The order expires when no
         *     deposit arrives before `expires_at`, 30 minutes after creation. Send an `Idempotency-Key`,
         *     so that the request can be repeated when its answer is lost.
         *
         *     With a `quote_id` the order gets the terms of that quote. The pair, the amount, the type of
         *     rate and the markup may then be left out. Without one, the pair, `amount_from` and
         *     `rate_type` are required.
         */
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an order
         * @description Finds an order by its UUID or its short id, in upper or lower case. Only orders of the
         *     calling partner account are visible. Any other id gets the same 404. Answers 304 to an
         *     `If-None-Match` that names the order's last `ETag`, so that polling costs few bytes.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the metadata of an order
         * @description Merges `metadata` into the order's own (RFC 7396): a text sets a key, `null` removes it, and
         *     absent keys stay. `metadata: null` removes all keys. The limits of a create hold for the
         *     result. Needs the scope `orders:manage`. The same request may be sent again.
         */
        patch: operations["changeOrder"];
        trace?: never;
    };
    "/partner/orders/{order_id}/refund-address": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the refund address of an order
         * @description Sets the refund address of an order that was created without one. It is set once: another
         *     address is answered with 409 `refund_address_set`, the same one with the details again. The
         *     rules are those of a create. Needs the scope `orders:manage`.
         *
         *     An order that failed because it had no refund address is then refunded. Refunds to addresses
         *     that were set after the create have a limit for each partner account and day. Above it
         *     people look at the refund first: `refund_address` of the details is `awaits_approval`.
         */
        put: operations["setRefundAddress"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an order
         * @description Ends the waiting for a deposit: the order is `expired`, with the cause `partner_cancelled`.
         *     Possible in status `waiting_deposit`, before `expires_at` and before any deposit was seen.
         *     Else 409 `order_not_cancellable`. The deposit address stays watched. A deposit that still
         *     comes is late, so that the `on_late` of its policy decides. Takes no body; a signature signs
         *     the empty string. Needs the scope `orders:manage`.
         *
         *     A cancelled `fixed` order still counts in the limits of fixed orders, and a quote or an
         *     `external_id` stays used. A cancelled order frees its place among the orders that wait,
         *     except for cancels beyond as many within 30 minutes as orders may wait.
         */
        post: operations["cancelOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new link to the order page
         * @description Gives the order a new link to its page, and ends the one before at once. The answer has it
         *     as `public_url`. Also for an order that was made before your account had pages, or whose
         *     link was revoked. 409 `order_page_off` while your account has no order pages. A repetition
         *     with the same `Idempotency-Key` makes no other link, and shows the present one. Takes no
         *     body; a signature signs the empty string. Needs the scope `orders:manage`.
         */
        post: operations["renewOrderPage"];
        /**
         * Revoke the link to the order page
         * @description Ends the link to the order's page at once: who opens it gets 404. Without a link nothing
         *     changes, so that a repetition is safe. A signature signs the empty string. Needs the scope
         *     `orders:manage`.
         */
        delete: operations["revokeOrderPage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer what to do with a deposit
         * @description Answers the `action_required` of the order's details. `action_id` is its `id`. An exchange
         *     names the `amount_to` that was shown. It is honoured until `valid_until`, unless the market
         *     has moved by more than the service fee meanwhile. Without `amount_to` the present offer is
         *     taken. A refund goes to the order's refund address, which must be set. Needs the scope
         *     `orders:manage`.
         *
         *     The details then show no `action_required`. The order moves a moment later. Nothing asked,
         *     or an answer that is not among `actions`, is 409 `action_not_available`. An older question,
         *     or an amount that is no longer offered, is 409 `action_stale`: read the details again.
         */
        post: operations["actOnOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the details of an order
         * @description What an Order does not say: its deposits, the terms of the exchange, the payout, refunds,
         *     and why it is on hold or has failed. Finds the order as `GET /partner/orders/{order_id}`
         *     does. `seq` is the number of the order's last event.
         */
        get: operations["getOrderDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/orders/{order_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the history of an order
         * @description Every move of the order with its cause, and facts about it, oldest first. `seq` counts from
         *     1 without a gap. Of an order with more than 1,000 events, the newest are shown.
         */
        get: operations["listOrderEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read new events
         * @description Every event of your orders, oldest first, for as long as the order is kept. Keep
         *     `next_cursor`, and ask with it again: no event is missed and none comes twice, also when
         *     transactions end late. The cursor is never null. A page may have fewer events than `limit`,
         *     or none, while `has_more` is true.
         *
         *     With `wait`, a request that finds no event is answered as soon as one comes, or with an
         *     empty page when the time is over. Ten requests of an account may wait at a time; one more is
         *     answered with 429. After a restore of our data an old cursor is answered with 410. Then
         *     begin again without a cursor, with `since` set to the `restart_from` of the error.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream new events
         * @description The same events as server-sent events. The `id` of each is a cursor, its `event` is the
         *     type, its `data` is the event as JSON. A client that comes back sends the last id as
         *     `Last-Event-ID`, or as `cursor`. A comment comes at least every 15 seconds.
         *
         *     A stream ends after an hour, when the key ends, or when the process is replaced. The last
         *     event is then `reconnect`, without an id. Five streams of an account may be open at a time.
         *     Browsers' `EventSource` cannot send a key; a server of yours must read the stream.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description All webhook endpoints of the calling partner account, oldest first.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description Events are sent to the URL from now on, as `POST` requests that are signed after Standard
         *     Webhooks 1.0: those of your orders, and those of your commission. The answer has the signing
         *     secret, which is not shown again. An
         *     account has at most ten endpoints. The URL must be `https` on port 443, with a public host
         *     name. A repetition with the same `Idempotency-Key` shows the secret again while it signs;
         *     once it has ended, that is 409 `action_not_available`.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/webhook-endpoints/{endpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook endpoint
         * @description One endpoint, with the state of its deliveries. Its secret is not shown.
         */
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Nothing more is sent to it. Its deliveries are forgotten.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change a webhook endpoint
         * @description Changes the given members. `"status": "disabled"` stops deliveries, and events of that time
         *     are not sent. `"status": "enabled"` starts them again, and forgets earlier failures.
         *     Deliveries that were waiting go on. To get the missed events, replay them.
         */
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/partner/webhook-endpoints/{endpoint_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new signing secret
         * @description The answer has the new secret, which is not shown again. Until the old secret ends, each
         *     delivery carries two signatures, and a receiver may check either. The secret before the old
         *     one ends now. A repetition with the same `Idempotency-Key` shows the secret again while it
         *     signs; once it has ended, that is 409 `action_not_available`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/webhook-endpoints/{endpoint_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends one event of type `endpoint.test`, once and before all others, and waits for its
         *     result. The state is `pending` when there is none within 17 seconds. Only enabled endpoints
         *     are tested. A repetition with the same `Idempotency-Key` waits for the same test. A test is
         *     one of the 50,000 deliveries that an account may ask for in a day.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/webhook-endpoints/{endpoint_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description The deliveries of the last 30 days with their attempts, newest first.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/webhook-endpoints/{endpoint_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send events again
         * @description Either the events with these ids, or all events of a range of time that the endpoint wants.
         *     Both reach back 30 days, and include events that were never sent. Events keep their ids. A
         *     call looks at 10,000 events; go on with its `next_cursor`. Ids that are unknown here are
         *     left out, and events whose delivery to this endpoint still waits.
         *
         *     - A disabled endpoint gets 409 `endpoint_disabled`: enable it first.
         *     - An endpoint gets an event at most 10 times again. After that the event is left out.
         *     - An account may ask for 50,000 deliveries a day: replays, tests and samples. Then it gets
         *       429 until 00:00 UTC. `GET /partner/events` has no such limit.
         *     - One replay of an account runs at a time, and four wait. Others get 429.
         */
        post: operations["replayWebhookEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/commission/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what you have earned
         * @description What is owed to your account now: in the asset in which this month is settled, and in others
         *     that are not converted yet. The balance counts closed months until they are paid. No key
         *     reads the address to which you are paid.
         */
        get: operations["getCommissionBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/commission/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what changed your balance
         * @description Markups of completed orders, conversions, corrections and payments: the newest month first,
         *     and in it the newest entry. The sum of all amounts of an asset is the balance in it. The
         *     list of a closed month is final. In the open month, entries that are booked during a walk
         *     may be missing from it.
         */
        get: operations["listCommissionEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List monthly statements
         * @description The months of your commission in UTC, newest first. The list is never paged. The figures of
         *     an open month are of this moment. Those of a closed month never change: corrections are
         *     entries of a later month.
         */
        get: operations["listStatements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/statements/{month}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a monthly statement
         * @description The statement of a month, or with `format=csv` its entries in the order of their booking, by
         *     RFC 4180 in UTF-8. A cell that a spreadsheet would compute begins with an apostrophe. The
         *     bytes of the CSV of a closed month are always the same, and `sha256` is their SHA-256.
         */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/reports/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report completed orders
         * @description Completed orders with both sides and what they earned, the earliest completion first. An
         *     order is found by the time of its completion, however long before it was created. Keep
         *     `next_cursor`, and ask with it again: no order is missed and none comes twice, also while
         *     orders complete. The cursor is never null. A page may have fewer orders than `limit`, or
         *     none, while `has_more` is true. After a restore of our data an old cursor is answered with
         *     410. Then begin again without a cursor, with `completed_from` set to the `restart_from` of
         *     the error.
         */
        get: operations["listOrderReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/sandbox/orders/{order_id}/deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send deposits in a sandbox
         * @description Sends coins to the order's deposit address, as its user would. Without members it sends
         *     what is agreed. An order gets at most 100 deposits; more are 409 `action_not_available`.
         *     Only in a sandbox: elsewhere every path below `/partner/sandbox/` is 404. Needs the scope
         *     `sandbox`.
         */
        post: operations["makeSandboxDeposits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/sandbox/orders/{order_id}/expire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the time of an order in a sandbox
         * @description Ends the deposit window now. The order is `expired` a moment later, and the next deposit
         *     is late. For an order with `action_required` it ends the time for an answer. An order that
         *     waits for neither is 409 `action_not_available`. Takes no body; a signature signs the empty
         *     string. Only in a sandbox. Needs the scope `sandbox`.
         */
        post: operations["expireSandboxOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/sandbox/orders/{order_id}/reorg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drop a deposit in a sandbox
         * @description A reorganisation of the chain drops the order's deposits. All other transactions of the
         *     replaced blocks are in the new blocks. Without a deposit in the newest 50 blocks it is 409
         *     `action_not_available`. Takes no body; a signature signs the empty string. Only in a
         *     sandbox. Needs the scope `sandbox`.
         */
        post: operations["reorgSandboxDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/sandbox/orders/{order_id}/force": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Force an outcome in a sandbox
         * @description The order then meets the outcome when it comes that far. Where an outcome makes it wait for
         *     a deadline of the gateway, the same request during that wait ends it. These are
         *     `venue_rejects`, `venue_silent`, `payout_unknown`, `would_fail`, `gas_above_maximum` and
         *     `token_refused`. `none` takes everything back that was forced. A hold of an order at rest is
         *     409 `action_not_available`. The request is no event; what it causes is. Only in a sandbox.
         *     Needs the scope `sandbox`.
         */
        post: operations["forceSandboxOutcome"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partner/sandbox/webhooks/emit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event in a sandbox
         * @description Sends a sample of an event to each of your enabled endpoints that gets its type: once,
         *     signed, and with an `order_id` that no order has. Only in a sandbox. Needs the scope
         *     `sandbox`. Samples are among the 50,000 deliveries that an account may ask for in a day.
         */
        post: operations["emitSandboxEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/status/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the public status of an order
         * @description Needs no key, so that a wallet or a page can show it. Only orders of partners that had it
         *     switched on are visible, by their UUID. Every other id gets the same 404. The answer has no
         *     amounts and no addresses.
         */
        get: operations["getPublicStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/coin-icons/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a coin's icon
         * @description The path that `icon_url` names. This endpoint alone does not answer JSON: it answers an SVG
         *     image. An answer to an address with the version parameter `v` may be cached for good. A coin
         *     without an icon of its own gets a drawn one.
         */
        get: operations["getCoinIcon"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch this document
         * @description The contract as JSON, for code generators. Rendered for people at `/api/v1/docs`.
         */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** @description Ticker symbol. */
        Coin: string;
        /** @description Network identifier, for example BTC, TRC20 or ERC20. */
        Network: string;
        /**
         * @description An amount or a rate, exact to its last digit. It is a JSON number, and a string of the same
         *     digits in answers to requests with the header `Amounts: string`.
         */
        Amount: JsonNumber;
        /** @description An amount that may be negative, exact to its last digit. Its forms are those of `Amount`. */
        SignedAmount: JsonNumber;
        /** @description A month in UTC. */
        Month: string;
        /**
         * @description `float` settles at the rate when the deposit is confirmed, `fixed` at the quoted rate.
         * @enum {string}
         */
        RateType: "float" | "fixed";
        /**
         * @description | Status | Meaning |
         *     |---|---|
         *     | waiting_deposit | waiting for the user to send funds to the deposit address |
         *     | confirming | deposit seen, waiting for confirmations |
         *     | exchanging | deposit confirmed, exchange in progress |
         *     | sending | payout transaction being sent |
         *     | completed | paid out; nothing more happens |
         *     | expired | no deposit arrived in time |
         *     | refunding | the exchange failed, a refund is under way |
         *     | refunded | the refund was sent to the refund address |
         *     | failed | contact support with the order id |
         * @enum {string}
         */
        OrderStatus: "waiting_deposit" | "confirming" | "exchanging" | "sending" | "completed" | "expired" | "refunding" | "refunded" | "failed";
        /** @description One coin on one network. */
        Currency: {
            /**
             * Format: uuid
             * @description Identifier of this row.
             */
            id: string;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Name of the coin for people. */
            name: string;
            /** @description The currency is enabled. */
            is_active: boolean;
            /** @description Deposits are accepted. */
            is_deposit_enabled: boolean;
            /** @description Payouts are made. */
            is_withdraw_enabled: boolean;
            /** @description Smallest amount per order, in the coin's units. */
            min_amount: components["schemas"]["Amount"];
            /** @description Largest amount per order, in the coin's units. */
            max_amount: components["schemas"]["Amount"];
            /**
             * Format: int32
             * @description Confirmations that a deposit needs.
             */
            min_confirmations: number;
            /**
             * Format: int32
             * @description Digits after the decimal point of amounts.
             */
            decimals: number;
            /** @description The network uses a memo or destination tag. */
            is_memo?: boolean;
            /** @description Address of a transaction in a block explorer; `{tx}` stands for its hash. */
            explorer_tx_url?: string | null;
            /** @description Address of an account in a block explorer; `{address}` stands for the account. */
            explorer_address_url?: string | null;
            /** @description Path of the coin's icon on this host. */
            icon_url?: string | null;
        };
        /** @description The text that goes with an address and tells the recipient whose payment it is. */
        TagRule: {
            /**
             * @description What the network calls it.
             * @enum {string}
             */
            name: "destination tag" | "memo" | "comment";
            /** @description Its form, for people. */
            format: string;
            /** @description Exchanges usually give one with their deposit addresses. A user's own wallet needs none. */
            is_usual: boolean;
        };
        /** @description One coin on one network, with its names outside this service. */
        Asset: {
            /** @description CAIP-19 name of the asset. */
            asset: string;
            /** @description CAIP-2 name of its chain. */
            chain: string;
            /** @description On a sandbox, the CAIP-19 name of the main network's asset. Null elsewhere. */
            stands_for: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Name of the coin for people. */
            name: string;
            /** @description Contract, mint or issuer of a token; null for the chain's own coin. */
            contract: string | null;
            /**
             * Format: int32
             * @description Digits after the decimal point of amounts.
             */
            decimals: number;
            /** @description Smallest amount per order. */
            min_amount: components["schemas"]["Amount"];
            /** @description Largest amount per order. */
            max_amount: components["schemas"]["Amount"];
            /**
             * Format: int32
             * @description Confirmations that a deposit needs.
             */
            min_confirmations: number;
            /** @description Deposits are accepted. */
            is_deposit_enabled: boolean;
            /** @description Payouts are made. */
            is_withdraw_enabled: boolean;
            /** @description The rule for tags; null when the network has none. */
            tag: components["schemas"]["TagRule"] | null;
            /** @description Address of a transaction in a block explorer; `{tx}` stands for its hash. */
            explorer_tx_url: string | null;
            /** @description Address of an account in a block explorer; `{address}` stands for the account. */
            explorer_address_url: string | null;
        };
        /** @description All active assets. */
        AssetList: {
            /** @description The assets, by coin, then network. */
            data: components["schemas"]["Asset"][];
            /** @description Always false: the list is whole. */
            has_more: boolean;
        };
        /** @description The smallest and the largest amount of a coin. */
        AmountLimits: {
            /** @description Smallest amount. */
            min: components["schemas"]["Amount"];
            /** @description Largest amount. */
            max: components["schemas"]["Amount"];
        };
        /** @description The limits of a pair on both sides. `to` follows from `from` at the quoted terms. */
        PairLimits: {
            from: components["schemas"]["AmountLimits"];
            to: components["schemas"]["AmountLimits"];
        };
        /** @description How a pair can be exchanged at one type of rate. */
        PairTerms: {
            limits: components["schemas"]["PairLimits"];
        };
        /** @description A pair that can be exchanged at present. */
        Pair: {
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            /** @description CAIP-19 name of the source asset. */
            asset_from: string;
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            /** @description CAIP-19 name of the destination asset. */
            asset_to: string;
            /** @description At a `float` rate; null when that is not available. */
            float: components["schemas"]["PairTerms"] | null;
            /** @description At a `fixed` rate; null when that is not available. */
            fixed: components["schemas"]["PairTerms"] | null;
        };
        /** @description The pairs of a source coin. */
        PairList: {
            /** @description The pairs, by destination coin, then network. */
            data: components["schemas"]["Pair"][];
            /** @description Always false: the list is whole. */
            has_more: boolean;
        };
        /** @description An address that a user has entered, and its coin and network. */
        CheckAddress: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description The text as the user entered it. */
            address: string;
            /** @description Memo or tag, if the user entered one. */
            tag?: string;
        };
        /** @description Whether a create would accept an address. */
        AddressCheck: {
            /** @description A create would accept the address and the tag. */
            valid: boolean;
            /** @description The form in which the address is used and shown; null for a refused one. */
            canonical: string | null;
            /**
             * @description The tag that is used: the one sent, or the one that the address carries. Null without
             *     one, and for a refused address.
             */
            tag: string | null;
            /** @description Why a create would refuse it; `validation_failed` for several reasons. Null if valid. */
            code: string | null;
            /** @description The fault and the correction, for people; null when valid. */
            detail: string | null;
            /** @description Networks on which a refused text would be an address. */
            looks_like: components["schemas"]["Network"][];
            /** @description What may be a mistake in a valid address. */
            warnings: components["schemas"]["Warning"][];
            /** @description Every fault; empty when valid. */
            errors: components["schemas"]["Fault"][];
        };
        /** @description Something that is allowed and may be a mistake. */
        Warning: {
            /** @description The member of the request. */
            field: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description One sentence for people. */
            detail: string;
        };
        /** @description The terms that an order would get now. */
        OrderCheck: {
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            rate_type: components["schemas"]["RateType"];
            /** @description Amount to be deposited. */
            amount_from: components["schemas"]["Amount"];
            /** @description Amount to be paid out. */
            amount_to: components["schemas"]["Amount"];
            /** @description Units of `coin_to` paid out for each unit of `coin_from`, after all fees. */
            rate: components["schemas"]["Amount"];
            /**
             * Format: int32
             * @description As in a quote of `GET /partner/rates`. With a fixed `quote_id`: whole seconds for which
             *     the quote still binds.
             */
            expires_in: number | null;
            limits: components["schemas"]["PairLimits"];
            /**
             * Format: int32
             * @description Confirmations that the deposit would need.
             */
            deposit_confirmations_required: number;
            /** @description The recipient in the form that is used. */
            recipient_address: string;
            /** @description The tag of the payout, also when the address carries it; null without one. */
            recipient_address_tag: string | null;
            /** @description The refund address in the form that is used; null without one. */
            refund_address: string | null;
            /** @description The tag of a refund, also when the address carries it; null without one. */
            refund_address_tag: string | null;
            /** @description What may be a mistake in the request. */
            warnings: components["schemas"]["Warning"][];
        };
        /** @description The current quote of a pair. */
        RateQuote: {
            coin_from: components["schemas"]["Coin"];
            coin_to: components["schemas"]["Coin"];
            rate_type: components["schemas"]["RateType"];
            /** @description Units of `coin_to` paid out for each unit of `coin_from`, after all fees. */
            rate: components["schemas"]["Amount"];
            /** @description Smallest amount of `coin_from` for this pair. */
            min_amount: components["schemas"]["Amount"];
            /** @description Largest amount of `coin_from` for this pair. */
            max_amount: components["schemas"]["Amount"];
            /**
             * Format: int32
             * @description Null for `float`. For `fixed`, whole seconds for which a new order gets this rate. When
             *     the market moves away from the rate, a new rate replaces it at once. 0 when the rate
             *     holds for this moment only.
             */
            expires_in: number | null;
        };
        /** @description The user's country, as its ISO 3166-1 code of two capitals. */
        Country: string;
        /**
         * @description An `asset` of `GET /partner/assets`, instead of a coin and a network. Contracts of EVM
         *     tokens may be in upper or lower case.
         */
        AssetName: string;
        /**
         * Format: int32
         * @description Your share of the fee in basis points, hundredths of a percent. It is part of the rate. At
         *     most 500, or the largest markup of your account. Without it the default markup of the key
         *     holds, if the key has one.
         */
        MarkupBps: number;
        /**
         * @description The pair, and exactly one of `amount_from` and `amount_to`. Each side of the pair is named
         *     by coin and network, or by its asset.
         */
        CreateQuote: ({
            coin_from?: components["schemas"]["Coin"];
            network_from?: components["schemas"]["Network"];
            coin_to?: components["schemas"]["Coin"];
            network_to?: components["schemas"]["Network"];
            asset_from?: components["schemas"]["AssetName"];
            asset_to?: components["schemas"]["AssetName"];
            rate_type: components["schemas"]["RateType"];
            /**
             * @description Amount of `coin_from` that the user will send: a number of at most 40 characters. An
             *     exponent must lie between -30 and 30.
             */
            amount_from?: number;
            /**
             * @description Amount of `coin_to` that the user is to receive at least: a number of at most 40
             *     characters. An exponent must lie between -30 and 30.
             */
            amount_to?: number;
            /**
             * @description `true` quotes the nearest limit for an amount outside the limits. Send a balance as
             *     `amount_from` to quote the most that it can exchange.
             */
            clamp?: boolean;
            markup_bps?: components["schemas"]["MarkupBps"];
            country?: components["schemas"]["Country"];
        } & (unknown & unknown & unknown & unknown)) & (unknown | unknown);
        /**
         * @description How the amounts come about, in units of `coin_to` with at most 18 decimals. `gross` −
         *     `service_fee` − `partner_markup` − `network_fee` − `rounding` = `amount_to`, exactly.
         */
        QuoteParts: {
            /** @description Price of a unit of `coin_from` before fees. */
            mid: components["schemas"]["Amount"];
            /** @description `amount_from` at the price before fees. */
            gross: components["schemas"]["Amount"];
            /** @description Our fee. */
            service_fee: components["schemas"]["Amount"];
            /** @description Your share. */
            partner_markup: components["schemas"]["Amount"];
            /** @description Fee of the payout's network. */
            network_fee: components["schemas"]["Amount"];
            /** @description What rounding down to the decimals of `coin_to` takes. */
            rounding: components["schemas"]["Amount"];
        };
        /** @description A quote that binds until `expires_at`. */
        BindingQuote: {
            /** @description Names the quote in `POST /partner/orders`. Treat it as opaque text. */
            quote_id: string;
            /**
             * @description `open` can be used for an order. The time of `expired` is over. `used` has an order.
             * @enum {string}
             */
            state: "open" | "expired" | "used";
            /**
             * Format: uuid
             * @description The order that used the quote; null while there is none.
             */
            order_id: string | null;
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            rate_type: components["schemas"]["RateType"];
            /**
             * @description Whose amount was asked for.
             * @enum {string}
             */
            side: "from" | "to";
            /** @description A limit took the place of the amount that was sent. */
            clamped: boolean;
            /** @description Amount to be deposited. */
            amount_from: components["schemas"]["Amount"];
            /** @description Amount to be paid out. */
            amount_to: components["schemas"]["Amount"];
            /**
             * @description Units of `coin_to` paid out for each unit of `coin_from`. `amount_to` is `amount_from ×
             *     rate`, rounded down to the decimals of `coin_to`.
             */
            rate: components["schemas"]["Amount"];
            parts: components["schemas"]["QuoteParts"];
            limits: components["schemas"]["PairLimits"];
            /**
             * Format: date-time
             * @description When the quote was made.
             */
            issued_at: string;
            /**
             * Format: date-time
             * @description Until when it binds.
             */
            expires_at: string;
        };
        /**
         * @description Your choices for the cases that have more than one good answer. The first value of each is
         *     the default. A deposit below the minimum is refunded in every case.
         *
         *     With `ask` the order keeps its status, and `action_required` of its details says what you
         *     can choose. Without an answer within 24 hours the deposit is refunded. An exchange that you
         *     are asked about is offered at the market of the moment, never above the rate of a `fixed`
         *     order.
         */
        OrderPolicy: {
            /**
             * @description For a deposit after the order expired. `market` exchanges it at the market of the moment
             *     when it is confirmed, with the fees of the order. The amount must be within the present
             *     limits of the pair. An expired order then becomes `exchanging`. Both `market` and `ask`
             *     are possible for 72 hours after `expires_at`.
             * @enum {string}
             */
            on_late?: "refund" | "market" | "ask";
            /**
             * @description For a smaller deposit that is at or above the minimum.
             * @enum {string}
             */
            on_underpaid?: "exchange" | "refund" | "ask";
            /**
             * @description For a deposit of which a part would not be exchanged: above the expected amount of a
             *     `fixed` order, or above the maximum of a `float` order.
             * @enum {string}
             */
            on_overpaid?: "refund_excess" | "refund_all" | "ask";
            /**
             * @description When the payout would be below `min_amount_to` at the moment of the exchange, also
             *     because less than expected arrived.
             * @enum {string}
             */
            on_price_moved?: "refund" | "ask";
        };
        /**
         * @description The pair, the amount and the addresses of a new order. Each side of the pair is named by
         *     coin and network, or by its asset.
         */
        CreateOrder: {
            coin_from?: components["schemas"]["Coin"];
            network_from?: components["schemas"]["Network"];
            coin_to?: components["schemas"]["Coin"];
            network_to?: components["schemas"]["Network"];
            asset_from?: components["schemas"]["AssetName"];
            asset_to?: components["schemas"]["AssetName"];
            /**
             * @description Amount of `coin_from` that the user will send: a number of at most 40 characters. An
             *     exponent must lie between -30 and 30.
             */
            amount_from?: number;
            rate_type?: components["schemas"]["RateType"];
            /** @description Address on `network_to` that receives the payout. */
            recipient_address: string;
            /** @description Memo or tag of the recipient, for networks that have one. */
            recipient_address_tag?: string;
            /** @description Address on `network_from` that receives the refund when the exchange fails. */
            refund_address?: string;
            /** @description Memo or tag of the refund address, for networks that have one. */
            refund_address_tag?: string;
            /** @description A quote of `POST /partner/quotes`. Members that repeat the quote must agree with it. */
            quote_id?: string;
            /** @description Your own name of the order: visible ASCII, unique among your orders for ever. */
            external_id?: string;
            /**
             * @description Notes of your own, kept with the order: at most 20 keys of 40 characters with values of
             *     500, and 4 KiB together.
             */
            metadata?: {
                [key: string]: string;
            };
            markup_bps?: components["schemas"]["MarkupBps"];
            /**
             * @description The smallest payout that the user accepts, in `coin_to`. The order is refused when it
             *     would pay out less. Should the payout fall below it by the moment of the exchange,
             *     `on_price_moved` of the `policy` decides.
             */
            min_amount_to?: number;
            policy?: components["schemas"]["OrderPolicy"];
            country?: components["schemas"]["Country"];
        } & (unknown & unknown & unknown & unknown & unknown);
        /** @description What changes about an order. */
        ChangeOrder: {
            /**
             * @description Texts to set and nulls for keys to remove; null removes all. Afterwards the order may
             *     have 20 keys of 40 characters with values of 500, and 4 KiB together.
             */
            metadata: {
                [key: string]: string | null;
            } | null;
        };
        /** @description Where the deposit of an order goes when the exchange fails. */
        SetRefundAddress: {
            /** @description Address on `network_from`. */
            refund_address: string;
            /** @description Memo or tag of the refund address, for networks that have one. */
            refund_address_tag?: string;
        };
        /** @description An answer to the question about a deposit. */
        ActOnOrder: {
            /** @description The `id` of the order's `action_required`. */
            action_id: string;
            /**
             * @description The answer.
             * @enum {string}
             */
            action: "exchange" | "refund";
            /** @description The payout that an exchange was offered for. Not with a refund. */
            amount_to?: number;
        };
        /** @description An exchange order. */
        Order: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            id: string;
            /** @description Short identifier for people; upper and lower case find the same order. */
            short_id: string;
            status: components["schemas"]["OrderStatus"];
            /**
             * Format: date-time
             * @description When the order was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the order expires if no deposit arrives.
             */
            expires_at: string;
            coin_from: components["schemas"]["Coin"];
            network_from: components["schemas"]["Network"];
            coin_to: components["schemas"]["Coin"];
            network_to: components["schemas"]["Network"];
            /** @description Amount to be deposited. */
            amount_from_expected: components["schemas"]["Amount"];
            /** @description Amount to be paid out. */
            amount_to_expected: components["schemas"]["Amount"];
            rate_type: components["schemas"]["RateType"];
            /** @description The rate at creation. */
            rate_quoted: components["schemas"]["Amount"];
            /** @description Address to which the user sends the coins. */
            deposit_address: string;
            /** @description Memo or tag that the deposit must carry; null when there is none. */
            deposit_address_tag: string | null;
            /** @description Address that receives the payout. */
            recipient_address: string;
            /** @description Transaction of the deposit; null until a deposit is seen. */
            deposit_txid: string | null;
            /**
             * Format: int32
             * @description Confirmations of the deposit; null until a deposit is seen.
             */
            deposit_confirmations: number | null;
            /**
             * Format: int32
             * @description Confirmations that the deposit needs.
             */
            deposit_confirmations_required: number;
            /** @description Transaction of the payout; null until there is one. */
            payout_txid: string | null;
        };
        /** @description An order, with its details where they were asked for. */
        ListedOrder: components["schemas"]["Order"] & {
            details?: components["schemas"]["OrderDetails"];
        };
        /** @description A page of orders. */
        OrderList: {
            /** @description The orders of this page. */
            data: components["schemas"]["ListedOrder"][];
            /** @description Whether more orders follow at this moment. */
            has_more: boolean;
            /** @description Cursor of the next page. Null at the end of a list with `sort=created`; never null with `sort=updated`. */
            next_cursor: string | null;
        };
        /** @description A deposit to the order's address. */
        OrderDeposit: {
            /** @description Transaction of the deposit. */
            txid: string;
            /**
             * Format: int32
             * @description Place of its first output in its transaction; null where there is none.
             */
            output_index: number | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that arrived. */
            amount: components["schemas"]["Amount"];
            /**
             * Format: int32
             * @description Confirmations so far.
             */
            confirmations: number;
            /**
             * @description `mempool`: in no block yet. `confirming`: in a block. `credited`: confirmed. `lost`: a
             *     reorganisation or the mempool dropped it.
             * @enum {string}
             */
            state: "mempool" | "confirming" | "credited" | "lost";
            /**
             * @description `main` is exchanged, or refunded as the order's deposit. `second`, `small` (below the
             *     minimum), `late` and `wrong_asset` are refunded, where that is possible.
             * @enum {string}
             */
            role: "main" | "second" | "small" | "late" | "wrong_asset";
            /**
             * Format: date-time
             * @description When we first saw it.
             */
            seen_at: string;
            /**
             * @description Why it is not refunded, where it should be. `no_refund_address`: set one, and it is
             *     refunded. `below_fee`: its network's fee would leave nothing of it. `review`: people
             *     look at it. Null otherwise.
             * @enum {string|null}
             */
            refund_obstacle: "no_refund_address" | "below_fee" | "review" | null;
            /** @description Where a block explorer shows its transaction. Null where none does. */
            explorer_url?: string | null;
        };
        /**
         * @description The terms of the exchange. Fees are in units of `coin_to`. `amount_to` is
         *     `mid × amount_from` less all fees, and also `rate × amount_from`, each rounded down to the
         *     decimals of `coin_to`.
         */
        OrderTerms: {
            /** @description False for the quoted terms, true once the deposit decided them. */
            is_final: boolean;
            /** @description Price before fees that the terms amount to. */
            mid: components["schemas"]["Amount"];
            /** @description The service fee. */
            service_fee: components["schemas"]["Amount"];
            /** @description Your own share. */
            partner_markup: components["schemas"]["Amount"];
            /** @description The fee for the payout's transaction. */
            network_fee: components["schemas"]["Amount"];
            /** @description Price after all fees. It is the quoted one unless other terms were decided. */
            rate: components["schemas"]["Amount"];
            /** @description Amount that is exchanged. */
            amount_from: components["schemas"]["Amount"];
            /** @description Amount that is paid out. */
            amount_to: components["schemas"]["Amount"];
        };
        /** @description The payout. */
        OrderPayout: {
            /** @description Its transaction, once it is in a block. */
            txid: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that the recipient gets. */
            amount: components["schemas"]["Amount"];
            /**
             * @description `pending` until it is broadcast, `confirmed` once it is final on its chain.
             * @enum {string}
             */
            state: "pending" | "sent" | "confirmed" | "failed";
            /**
             * Format: date-time
             * @description When it was decided.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was first broadcast.
             */
            sent_at: string | null;
            /**
             * Format: date-time
             * @description When it was final.
             */
            confirmed_at: string | null;
            /** @description Where a block explorer shows its transaction. Null where none does. */
            explorer_url?: string | null;
        };
        /** @description A refund of a deposit, or of the part of one that was not exchanged. */
        OrderRefund: {
            /** @description Its transaction, once it is in a block. */
            txid: string | null;
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Amount that is sent back. */
            amount: components["schemas"]["Amount"];
            /** @description Network fee that was kept. */
            fee: components["schemas"]["Amount"];
            /** @description Transaction of the deposit. */
            deposit_txid: string;
            /**
             * @description `pending` until it is broadcast, `confirmed` once it is final on its chain.
             * @enum {string}
             */
            state: "pending" | "sent" | "confirmed" | "failed";
            /**
             * Format: date-time
             * @description When it was decided.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was first broadcast.
             */
            sent_at: string | null;
            /**
             * Format: date-time
             * @description When it was final.
             */
            confirmed_at: string | null;
            /** @description Where a block explorer shows its transaction. Null where none does. */
            explorer_url?: string | null;
        };
        /** @description Why the order goes no further for now. */
        OrderHold: {
            /**
             * @description `chain`: a reorganisation took the deposit. `review`: people look at it.
             * @enum {string}
             */
            reason: "chain" | "review";
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /**
             * @description Who ends the hold.
             * @enum {string}
             */
            acts_next: "service" | "partner";
            /**
             * Format: date-time
             * @description When the review ends at the latest; null where no time is promised.
             */
            review_by: string | null;
            /** @description Whether you may ask for a refund instead. */
            refund_offered: boolean;
        };
        /** @description Why the order failed. */
        OrderFailure: {
            /**
             * @description `payout_failed`, `payout_unknown`, `no_refund_address`, `refund_below_fee`,
             *     `refund_needs_approval`, `refund_failed`, `staff_stopped` or `staff_failed`. More may
             *     follow.
             */
            cause: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description A question about a deposit, asked because of the order's `policy`. */
        ActionRequired: {
            /** @description Names the question in an answer. It is new for every question. */
            id: string;
            /**
             * @description What is unusual: the deposit came late, is smaller or larger than expected, or the
             *     payout would be below `min_amount_to`.
             * @enum {string}
             */
            reason: "late" | "underpaid" | "overpaid" | "price_moved";
            /**
             * Format: date-time
             * @description When `default` happens without an answer.
             */
            deadline: string;
            /**
             * @description What happens without an answer.
             * @enum {string}
             */
            default: "refund";
            /**
             * @description What you can answer now. An exchange is missing while none is offered, for example while
             *     the market moves fast.
             */
            actions: components["schemas"]["OfferedAction"][];
        };
        /** @description An answer, and what it gives. */
        OfferedAction: {
            /**
             * @description The answer.
             * @enum {string}
             */
            action: "exchange" | "refund";
            /** @description The payout of an exchange. */
            amount_to?: components["schemas"]["Amount"];
            /**
             * Format: date-time
             * @description Until when that payout is honoured.
             */
            valid_until?: string;
            /** @description What a refund sends back, in `coin_from`, at the present network fee. */
            amount?: components["schemas"]["Amount"];
            /** @description What has to be set before the answer. */
            needs?: "refund_address"[];
        };
        /** @description What an Order does not say. */
        OrderDetails: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            order_id: string;
            /**
             * Format: int32
             * @description Number of the order's last event.
             */
            seq: number;
            /**
             * @description What to show at a glance. `processing` is confirming, exchanging or sending. `on_hold`
             *     and `action_required` replace the group of the status.
             * @enum {string}
             */
            status_group: "waiting" | "processing" | "on_hold" | "action_required" | "refunding" | "completed" | "expired" | "refunded" | "failed";
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            /** @description Your own id of the order; null without one. */
            external_id: string | null;
            /** @description Your own notes on the order; null without any. */
            metadata: {
                [key: string]: string;
            } | null;
            /** @description The deposits, the main one first. At most 100 are shown. */
            deposits: components["schemas"]["OrderDeposit"][];
            terms: components["schemas"]["OrderTerms"];
            /** @description The payout; null until it is decided. */
            payout: components["schemas"]["OrderPayout"] | null;
            /** @description The refunds, oldest first. At most 100 are shown. */
            refunds: components["schemas"]["OrderRefund"][];
            /** @description What you chose for exceptions; null for the usual rules. */
            policy: {
                [key: string]: string;
            } | null;
            /** @description Why the order is on hold; null when it is not. */
            hold: components["schemas"]["OrderHold"] | null;
            /** @description Why the order failed; null when it did not. */
            failure: components["schemas"]["OrderFailure"] | null;
            /** @description What you are asked to decide; null when nothing. */
            action_required: components["schemas"]["ActionRequired"] | null;
            /**
             * @description `given` with the create, or `set_later`. `awaits_approval`: set later, and people look
             *     at the refund before it is paid.
             * @enum {string}
             */
            refund_address: "none" | "given" | "set_later" | "awaits_approval";
            /**
             * @description The page of the order for your user, at a link that cannot be guessed. Everyone who has
             *     it sees the order. Null without order pages on your account, and for a revoked link.
             */
            public_url: string | null;
            /**
             * @description Opens a wallet with the deposit filled in: BIP 21, EIP-681, Solana Pay or SEP-7. On
             *     other networks it is the bare deposit address, so that a tag must be shown with it.
             *     Null unless the order is `waiting_deposit`.
             */
            payment_uri: string | null;
        };
        /** @description What only people see of an order, in the partner cabinet. */
        OrderPeople: {
            /** @description The tag that the payout carries. */
            recipient_address_tag: string | null;
            /** @description Where a refund goes. */
            refund_address: string | null;
            /** @description The tag that a refund carries. */
            refund_address_tag: string | null;
            /** @description Why the order is refunded, in words. Null when it is not. */
            refund_reason: string | null;
            /** @description Where each of the `refunds` goes, in their order. */
            refunded_to: {
                /** @description The address. */
                address: string;
                /** @description Its tag. */
                tag: string | null;
            }[];
        };
        /** @description The details of an order, with what only people see for a person. */
        ShownDetails: components["schemas"]["OrderDetails"] & {
            people?: components["schemas"]["OrderPeople"];
        };
        /** @description A move of an order, or a fact about it. */
        OrderEvent: {
            /**
             * Format: int32
             * @description Counts from 1 without a gap.
             */
            seq: number;
            /** @description The same as in the feed and in webhooks. */
            event_id: string;
            type: components["schemas"]["EventType"];
            status: components["schemas"]["OrderStatus"];
            /** @description The status before; null for the creation. */
            previous_status: string | null;
            /**
             * @description `created`, or the cause of the move, such as `deposit_seen`, `window_passed` or
             *     `payout_confirmed`. A fact leaves the status, such as `refund_address_set`,
             *     `action_required`, `deposit_added` or `held`. More may follow.
             */
            cause: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description The history of an order. */
        OrderEvents: {
            /** @description The events, oldest first. */
            data: components["schemas"]["OrderEvent"][];
            /** @description Whether older events are not shown. */
            has_more: boolean;
        };
        /**
         * @description The type of an event. More may follow: ignore types that you do not know. `order.updated` is
         *     an event that has no type yet. The types `order.extra_…` are about deposits other than the
         *     main one, and about refunds of them or of what was not exchanged. Only the first few such
         *     deposits are reported, because strangers can send any number.
         * @enum {string}
         */
        EventType: "order.created" | "order.deposit_detected" | "order.expired" | "order.refunding" | "order.deposit_lost" | "order.confirmed" | "order.exchanged" | "order.completed" | "order.failed" | "order.refunded" | "order.payout_retried" | "order.refund_address_set" | "order.action_required" | "order.deposit_added" | "order.extra_refunding" | "order.extra_refunded" | "order.extra_refund_failed" | "order.held" | "order.released" | "order.action_resolved" | "order.updated";
        /**
         * @description The type of an event that belongs to no order. Webhooks have these events, with the members
         *     that the guide to webhooks lists. Feed and stream have events of orders only. More may
         *     follow.
         * @enum {string}
         */
        PartnerEventType: "commission.statement" | "commission.paid" | "commission.address_changed" | "key.markup_changed";
        /** @description The type of an event that is sent to endpoints. */
        WebhookEventType: components["schemas"]["EventType"] | components["schemas"]["PartnerEventType"];
        /**
         * @description Facts that never change after the event. It has no address and no metadata: read the order
         *     for these. Amounts are strings, with and without the header `Amounts`.
         */
        EventData: {
            /** @description The same for this event wherever it is sent. */
            event_id: string;
            /**
             * Format: uuid
             * @description The order.
             */
            order_id: string;
            /** @description Its short id. */
            short_id: string;
            /** @description Your id of the order. */
            external_id: string | null;
            /**
             * Format: int32
             * @description Number of the event in the order, from 1 without a gap.
             */
            seq: number;
            status: components["schemas"]["OrderStatus"];
            /** @description The status before; null for the creation. */
            previous_status: string | null;
            /** @description `created`, or the cause of the move. More may follow. */
            cause: string;
            /** @description What was exchanged, from the exchange on. */
            amount_from: string | null;
            /** @description What is paid out, from the exchange on. */
            amount_to: string | null;
            /** @description Transaction of the payout, once the order is completed. */
            payout_txid: string | null;
            /** @description What was sent back, once the order is refunded. */
            refund_amount: string | null;
            /** @description Transaction of the refund, once the order is refunded. */
            refund_txid: string | null;
        };
        /** @description Something that happened to an order. */
        Event: {
            type: components["schemas"]["EventType"];
            /**
             * Format: date-time
             * @description When.
             */
            timestamp: string;
            data: components["schemas"]["EventData"];
        };
        /** @description A page of events. */
        EventList: {
            /** @description The events, oldest first. */
            data: components["schemas"]["Event"][];
            /** @description Whether more events follow at this moment. */
            has_more: boolean;
            /** @description Where to ask again. */
            next_cursor: string;
        };
        /**
         * @description `pending` has an attempt before it; `failed` had its last one.
         * @enum {string}
         */
        DeliveryState: "pending" | "delivered" | "failed";
        /** @description A new endpoint. */
        CreateWebhookEndpoint: {
            /** @description Where events are sent. `https`, port 443, a public host name. */
            url: string;
            /** @description Only events of these types. Null or absent sends all, also later types. */
            types?: components["schemas"]["WebhookEventType"][] | null;
            /** @description Only events of orders from this coin. */
            coin_from?: string | null;
            /** @description Only events of orders to this coin. */
            coin_to?: string | null;
            /**
             * @description How amounts are written in its events. Strings keep all digits everywhere.
             * @enum {string}
             */
            amounts?: "string" | "number";
            /**
             * @description Whether events are sent.
             * @enum {string}
             */
            status?: "enabled" | "disabled";
        };
        /** @description What is changed of an endpoint. */
        UpdateWebhookEndpoint: {
            /** @description Where events are sent. `https`, port 443, a public host name. */
            url?: string;
            /** @description Only events of these types. Null or absent sends all, also later types. */
            types?: components["schemas"]["WebhookEventType"][] | null;
            /** @description Only events of orders from this coin. */
            coin_from?: string | null;
            /** @description Only events of orders to this coin. */
            coin_to?: string | null;
            /**
             * @description How amounts are written in its events. Strings keep all digits everywhere.
             * @enum {string}
             */
            amounts?: "string" | "number";
            /**
             * @description Whether events are sent.
             * @enum {string}
             */
            status?: "enabled" | "disabled";
        };
        /** @description Where events are sent. */
        WebhookEndpoint: {
            /**
             * Format: uuid
             * @description Identifier of the endpoint.
             */
            id: string;
            /** @description Where events are sent. `https`, port 443, a public host name. */
            url: string;
            /** @description Only events of these types. Null or absent sends all, also later types. */
            types: components["schemas"]["WebhookEventType"][] | null;
            /** @description Only events of orders from this coin. */
            coin_from: string | null;
            /** @description Only events of orders to this coin. */
            coin_to: string | null;
            /**
             * @description How amounts are written in its events. Strings keep all digits everywhere.
             * @enum {string}
             */
            amounts: "string" | "number";
            /**
             * @description Whether events are sent.
             * @enum {string}
             */
            status: "enabled" | "disabled";
            /**
             * @description `partner` or `staff` disabled it, it answered 410 (`gone`), or no attempt succeeded for
             *     five days (`failing`). Null while it is enabled.
             */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            disabled_at: string | null;
            /**
             * Format: int32
             * @description Failed attempts since the last success.
             */
            failures: number;
            /**
             * Format: date-time
             * @description Since when.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When an attempt succeeded last, to the minute.
             */
            last_success_at: string | null;
            /**
             * Format: date-time
             * @description When an attempt failed last.
             */
            last_failure_at: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before the last rotation signs too.
             */
            old_secret_until: string | null;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When.
             */
            updated_at: string;
        };
        /** @description All endpoints. */
        WebhookEndpointList: {
            /** @description The endpoints, oldest first. */
            data: components["schemas"]["WebhookEndpoint"][];
            /** @description Always false: the list is whole. */
            has_more: boolean;
        };
        /** @description An endpoint with its new secret. */
        WebhookEndpointSecret: {
            endpoint: components["schemas"]["WebhookEndpoint"];
            /** @description The signing secret. What follows `whsec_` is base64 of the 32 bytes that key the HMAC. */
            secret: string;
        };
        /** @description How long the old secret signs too. */
        RotateWebhookSecret: {
            /**
             * Format: int32
             * @description Hours. 0 ends the old secret at once.
             * @default 24
             */
            old_secret_hours: number;
        };
        /** @description The result of a test. */
        WebhookTest: {
            /** @description The `webhook-id` of the test. */
            event_id: string;
            state: components["schemas"]["DeliveryState"];
            status: components["schemas"]["AnswerStatus"];
            /**
             * Format: int32
             * @description How long the attempt took.
             */
            ms: number | null;
            error: components["schemas"]["SendFault"];
        };
        /**
         * Format: int32
         * @description The status that the endpoint answered. Null without an answer.
         */
        AnswerStatus: number | null;
        /**
         * @description Null for a success. `status` and `redirect`: the answer was no 2xx. `url_not_allowed`,
         *     `address_not_allowed`: the URL, or an address of its name, is not public. `dns`, `connect`,
         *     `tls`, `timeout`, `reset`: there was no answer. More may follow.
         */
        SendFault: string | null;
        /** @description One attempt. */
        WebhookAttempt: {
            /**
             * Format: int32
             * @description Counts from 1. A missing number was interrupted on our side.
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When it began.
             */
            at: string;
            status: components["schemas"]["AnswerStatus"];
            /**
             * Format: int32
             * @description How long it took.
             */
            ms: number;
            error: components["schemas"]["SendFault"];
            /**
             * @description The beginning of what your endpoint answered, as text. Only people see it, in the
             *     partner cabinet.
             */
            answer?: string | null;
        };
        /** @description An event on its way to an endpoint. */
        WebhookDelivery: {
            /** @description The `webhook-id`. */
            event_id: string;
            /** @description The type of the event. */
            type: string;
            /**
             * Format: uuid
             * @description The order. Null for an event without an order, and for a test.
             */
            order_id: string | null;
            /** @description Whether it was replayed. */
            is_replay: boolean;
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it is tried next. Null when it has ended.
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at: string | null;
            /** @description The attempts, oldest first. */
            attempts: components["schemas"]["WebhookAttempt"][];
        };
        /** @description A page of deliveries. */
        WebhookDeliveryList: {
            /** @description The deliveries, newest first. */
            data: components["schemas"]["WebhookDelivery"][];
            /** @description Whether more deliveries follow. */
            has_more: boolean;
            /** @description Cursor of the next page. */
            next_cursor: string | null;
        };
        /** @description Either `event_ids`, or a range of time. */
        ReplayWebhookEvents: {
            /** @description Ids of events. The other members are then left out. */
            event_ids?: string[];
            /**
             * Format: date-time
             * @description Events from this time on. Without it, from 30 days ago.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Events before this time. Without it, up to now.
             */
            to?: string;
            /** @description Only events that were sent, and whose deliveries have all failed. */
            failed_only?: boolean;
            /** @description The `next_cursor` of the call before, with the same range. */
            cursor?: string;
        };
        /** @description An amount of an asset. It is positive when you are owed it. */
        CommissionAmount: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            amount: components["schemas"]["SignedAmount"];
        };
        /** @description What is to be paid for a month, network fee included. */
        MonthAmount: {
            month: components["schemas"]["Month"];
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            amount: components["schemas"]["SignedAmount"];
        };
        /** @description What is owed to the account now. */
        CommissionBalance: {
            month: components["schemas"]["Month"];
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description All that is owed in this asset. Closed months count until they are paid. */
            balance: components["schemas"]["SignedAmount"];
            /** @description What is owed in other assets. */
            others: components["schemas"]["CommissionAmount"][];
            /** @description Closed months that are to be paid, oldest first. */
            payable: components["schemas"]["MonthAmount"][];
            /** @description Closed months whose payment is under way, oldest first. */
            in_payment: components["schemas"]["MonthAmount"][];
            /** @description US dollars below which a month is not paid and counts in the next one. */
            min_payment_usd: components["schemas"]["Amount"];
        };
        /** @description What was converted into an amount, and its price in US dollars. */
        CommissionFrom: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            amount: components["schemas"]["SignedAmount"];
            price: components["schemas"]["Amount"];
        };
        /** @description One change of the balance. It never changes. */
        CommissionEntry: {
            /**
             * Format: uuid
             * @description Identifier of the entry.
             */
            id: string;
            /**
             * @description `accrual` is the markup of a completed order. `conversion` is one of two entries, out of
             *     one asset and into another. `correction` is made by our staff, with a reason. `payment`
             *     is the payment of an earlier month.
             * @enum {string}
             */
            kind: "accrual" | "conversion" | "correction" | "payment";
            /**
             * Format: date-time
             * @description When it was booked.
             */
            at: string;
            month: components["schemas"]["Month"];
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            amount: components["schemas"]["SignedAmount"];
            /**
             * Format: uuid
             * @description The order of an accrual.
             */
            order_id: string | null;
            /** @description Its short identifier. */
            short_id: string | null;
            /** @description Your number of it. */
            external_id: string | null;
            /** @description What was converted into the amount; null without a conversion. */
            from: components["schemas"]["CommissionFrom"] | null;
            /** @description The price of the amount's own coin in US dollars, with a conversion. */
            price: components["schemas"]["Amount"] | null;
            /**
             * Format: uuid
             * @description The entry that a correction is about.
             */
            corrects: string | null;
            /** @description Why it was corrected. */
            reason: string | null;
            /** @description The transaction of a payment. */
            txid: string | null;
        };
        /** @description A page of entries. */
        CommissionEntryList: {
            /** @description The entries, newest first. */
            data: components["schemas"]["CommissionEntry"][];
            /** @description Whether more entries follow. */
            has_more: boolean;
            /** @description Cursor of the next page. */
            next_cursor: string | null;
        };
        /**
         * @description The figures of an asset in a month. `closing` is the sum of the others without `paid`, which
         *     is taken from it. It opens the next month.
         */
        StatementFigures: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            opening: components["schemas"]["SignedAmount"];
            accrued: components["schemas"]["SignedAmount"];
            converted: components["schemas"]["SignedAmount"];
            corrected: components["schemas"]["SignedAmount"];
            paid: components["schemas"]["SignedAmount"];
            closing: components["schemas"]["SignedAmount"];
        };
        /** @description The payment of a month. */
        StatementPayment: {
            /** @description Null until the transaction is in a block. */
            txid: string | null;
            amount: components["schemas"]["Amount"];
            fee: components["schemas"]["Amount"];
            /** @description Where a block explorer shows its transaction. Null where none does. */
            explorer_url: string | null;
        };
        /** @description A month of the account's commission. */
        Statement: {
            month: components["schemas"]["Month"];
            /**
             * @description `open`: entries are still added. `closed`: nothing is due. `rolled`: the balance is
             *     below the minimum, and counts in the next month. `payable`: `due` is to be paid. `paid`:
             *     it was paid.
             * @enum {string}
             */
            state: "open" | "closed" | "rolled" | "payable" | "paid";
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /**
             * Format: int32
             * @description Orders that earned something in the month.
             */
            orders: number;
            /** @description By asset, that of the month first. */
            figures: components["schemas"]["StatementFigures"][];
            /** @description What is paid for the month, network fee included; null without a payment. */
            due: components["schemas"]["Amount"] | null;
            /**
             * @description Why no payment of a `payable` month is under way. Null otherwise. Our staff decide about
             *     `held`, `partner_inactive` and `payment_failed`. `no_asset`: the asset is switched off,
             *     and the month is never paid in another one. `no_address`: no address of yours is in
             *     effect for the asset. `address_lost`: you have lost it, and a new one waits.
             *     `below_fee`: the network fee exceeds `due`. `payment_dead`: a payment failed, and the
             *     next one follows within an hour. `not_covered`: a correction has made your balance
             *     smaller than `due`.
             * @enum {string|null}
             */
            problem: "held" | "partner_inactive" | "payment_failed" | "no_asset" | "no_address" | "address_lost" | "below_fee" | "payment_dead" | "not_covered" | null;
            /** @description SHA-256 of the month's CSV in hexadecimal; null while the month is open. */
            sha256: string | null;
            /**
             * Format: date-time
             * @description When it was closed.
             */
            closed_at: string | null;
            /**
             * Format: date-time
             * @description When it was paid.
             */
            paid_at: string | null;
            /** @description The payment of the month; null until there is one. */
            payment: components["schemas"]["StatementPayment"] | null;
        };
        /** @description All months of the account. */
        StatementList: {
            /** @description The statements, newest first. */
            data: components["schemas"]["Statement"][];
            /** @description Always false. The list is whole. */
            has_more: boolean;
        };
        /** @description One side of a completed order. */
        ReportedSide: {
            coin: components["schemas"]["Coin"];
            network: components["schemas"]["Network"];
            /** @description Contract, mint or issuer of a token; null for the chain's own coin. */
            contract: string | null;
            amount: components["schemas"]["Amount"];
            /** @description CAIP-2 name of the chain. */
            chain: string;
            /**
             * Format: int64
             * @description The chain id of an EVM chain; null for others.
             */
            chain_id: number | null;
        };
        /** @description A completed order. */
        ReportedOrder: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            id: string;
            /** @description Its short identifier. */
            short_id: string;
            /** @description Your number of it. */
            external_id: string | null;
            /**
             * @description The status in the words of the Edge wallet.
             * @enum {string}
             */
            edge_status: "completed";
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it completed.
             */
            completed_at: string;
            source: components["schemas"]["ReportedSide"];
            destination: components["schemas"]["ReportedSide"];
            /** @description Where the user paid to. */
            deposit_address: string;
            /** @description Where the payout went. */
            recipient_address: string;
            /** @description The deposit. */
            deposit_txid: string | null;
            /** @description The payout. */
            payout_txid: string | null;
            /** @description What the order earned; null for an order without a markup. */
            commission: components["schemas"]["CommissionAmount"] | null;
        };
        /** @description A page of completed orders. */
        OrderReport: {
            /** @description The orders, the earliest completion first. */
            data: components["schemas"]["ReportedOrder"][];
            /** @description Whether to ask for the next page at once. */
            has_more: boolean;
            /** @description Cursor of the next page. */
            next_cursor: string;
        };
        /** @description Coins to send in place of the user. */
        MakeSandboxDeposits: {
            /** @description Amount of each deposit. Without it, the order's `amount_from`. */
            amount?: number;
            /** @description Another coin. */
            coin?: string;
            /** @description Its network. */
            network?: string;
            /**
             * @description Leaves the memo or tag out, or sends one that no order has.
             * @enum {string}
             */
            tag?: "omit" | "wrong";
            /**
             * Format: int32
             * @description How many equal deposits. Without it, one.
             */
            count?: number;
            /**
             * Format: int32
             * @description Blocks to make at once. Others follow by the clock.
             */
            blocks?: number;
        };
        /** @description Deposits that were sent. */
        SandboxDeposits: {
            /**
             * Format: uuid
             * @description The order.
             */
            order_id: string;
            /** @description Coin of the deposits. */
            coin: string;
            /** @description Network of the coin. */
            network: string;
            /** @description Amount of each deposit. */
            amount: components["schemas"]["Amount"];
            /** @description The order's deposit address. */
            address: string;
            /** @description The memo or tag that was sent. */
            tag: string | null;
            /** @description The transactions. */
            txids: string[];
        };
        /** @description An order that the sandbox has changed. */
        SandboxOrder: {
            /**
             * Format: uuid
             * @description The order.
             */
            order_id: string;
            /**
             * @description Its status at this moment.
             * @enum {string}
             */
            status: "waiting_deposit" | "confirming" | "exchanging" | "sending" | "completed" | "expired" | "refunding" | "refunded" | "failed";
            /**
             * Format: date-time
             * @description End of its deposit window.
             */
            expires_at: string;
        };
        /** @description What a reorganisation has dropped. */
        SandboxReorg: {
            /**
             * Format: uuid
             * @description The order.
             */
            order_id: string;
            /** @description Transactions that no chain has now. */
            dropped: string[];
        };
        /** @description An outcome to force. */
        ForceSandboxOutcome: {
            /**
             * @description - `venue_rejects`: the venue refuses the exchange, and the deposit is refunded.
             *     - `venue_silent`: the venue gives no answer, and the deposit is refunded.
             *     - `payout_dead`: the chain takes the payout and moves nothing.
             *     - `payout_unknown`: no node finds the payout.
             *     - `refund_dead`: the chain takes the refund and moves nothing.
             *     - `would_fail`, `gas_above_maximum`, `token_refused`: the recipient or the token refuses
             *       payments.
             *     - `signer_unavailable`: payments wait for the signer.
             *     - `hold`: the order is on hold.
             *     - `fee_spike`: payments wait, because their fee is too high.
             *     - `none`: takes back all of these.
             * @enum {string}
             */
            outcome: "venue_rejects" | "venue_silent" | "payout_dead" | "payout_unknown" | "refund_dead" | "would_fail" | "gas_above_maximum" | "token_refused" | "signer_unavailable" | "hold" | "fee_spike" | "none";
        };
        /** @description A sample event to send. */
        EmitSandboxEvent: {
            type: components["schemas"]["WebhookEventType"];
        };
        /** @description Samples that are being sent. */
        SandboxSamples: {
            /** @description One for each endpoint. */
            data: {
                /**
                 * Format: uuid
                 * @description The endpoint.
                 */
                endpoint_id: string;
                /** @description Id of the sample. */
                event_id: string;
            }[];
        };
        /** @description How many events are sent again. */
        WebhookReplay: {
            /**
             * Format: int32
             * @description Events that this call sends again.
             */
            count: number;
            /** @description Where to go on. Null when the range is done. */
            next_cursor: string | null;
        };
        /** @description The public status of an order. */
        PublicStatus: {
            /**
             * Format: uuid
             * @description Identifier of the order.
             */
            id: string;
            status: components["schemas"]["OrderStatus"];
            /**
             * @description The status in the words of the Edge wallet. `infoNeeded` stands for an order that is on
             *     hold, has failed, or whose partner is asked what to do with its deposit.
             * @enum {string}
             */
            edge_status: "pending" | "processing" | "infoNeeded" | "completed" | "expired" | "refunded";
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
        };
        /** @description One thing that is wrong. */
        Fault: {
            /** @description The member or parameter. */
            field: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description One sentence for people. */
            detail: string;
        };
        /** @description Why the request was refused. */
        Error: {
            /** @description The fault and the correction, for people. */
            detail: string;
            /** @description Stable word for programs. */
            code: string;
            /** @description Identifier of the request; quote it to support. */
            request_id: string;
            /** @description The pair's minimum, when an amount is outside the limits. */
            min_amount?: components["schemas"]["Amount"];
            /** @description The pair's maximum, when an amount is outside the limits. */
            max_amount?: components["schemas"]["Amount"];
            limits?: components["schemas"]["PairLimits"];
            /**
             * Format: uuid
             * @description The order that already has the quote or the external id.
             */
            order_id?: string;
            /**
             * Format: date-time
             * @description The `updated_since` with which to begin again, when a cursor has expired.
             */
            restart_from?: string;
            /** @description Every fault, when more than one thing is wrong. */
            errors?: components["schemas"]["Fault"][];
        };
    };
    responses: {
        /** @description The request does not have the contract's shape, or is not a valid HTTP request. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No valid key, or a wrong signature. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The account is not active, the key may not do this, or the request came without HTTPS. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource does not exist, or belongs to another partner account. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The path exists, but not with this method. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request took too long to arrive. The connection is closed. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description A request with the same idempotency key is still under way. Or an order already has the
         *     quote or the external id. Or the order does not allow the change any more.
         */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The data was restored since the cursor was given. Begin again without a cursor, with
         *     `updated_since` (of events: `since`) set to `restart_from`.
         */
        CursorExpired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is larger than 16 KiB. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is not uncompressed JSON in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Well formed, but refused. */
        UnprocessableEntity: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The header `Expect` asks for something that is not supported. */
        ExpectationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests in this window. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers are larger than 16 KiB together, or one is longer than documented. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description An internal error of the gateway. */
        InternalServerError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service is temporarily unavailable. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
        IfNoneMatch: string;
        /**
         * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
         *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
         */
        Amounts: "string";
        /**
         * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
         *     A UUID, for example. The same key with the same request returns the same answer.
         */
        IdempotencyKey: string;
        /**
         * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
         *     The key of the HMAC is the secret: the part of the API key after the dot.
         *     Verified when present. A signature that does not match is answered with 401.
         */
        Signature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Strong entity tag of this answer. */
        ETag: string;
        /** @description How long the answer may be kept. */
        "Cache-Control": string;
        /** @description Tells proxies such as nginx to pass each event on at once. */
        "X-Accel-Buffering": "no";
        /** @description Identifier of this request; quote it to support. */
        "X-Request-Id": string;
        /** @description Whole seconds to wait before trying again. */
        "Retry-After": string;
        /** @description The methods that this path accepts. */
        Allow: string;
        /** @description The limit that applies: its name, quota and window in seconds. */
        "RateLimit-Policy": string;
        /** @description Name of the limit, remaining requests, and seconds until the window ends. */
        RateLimit: string;
        /** @description Requests allowed in the window. */
        "X-RateLimit-Limit": string;
        /** @description Requests left in the window. */
        "X-RateLimit-Remaining": string;
        /** @description When the window ends, in epoch seconds. */
        "X-RateLimit-Reset": string;
    };
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    listCurrencies: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All active currencies and their networks. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Currency"][];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAssets: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All active assets. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetList"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPairs: {
        parameters: {
            query: {
                /** @description Source coin ticker, in capitals. */
                coin_from: components["schemas"]["Coin"];
                /** @description Source network. Optional when the coin has one network only. */
                network_from?: components["schemas"]["Network"];
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pairs of the source coin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairList"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRate: {
        parameters: {
            query: {
                /** @description Source coin ticker, in capitals. */
                coin_from: components["schemas"]["Coin"];
                /** @description Destination coin ticker, in capitals. */
                coin_to: components["schemas"]["Coin"];
                /** @description Source network. Optional when the coin has one network only. */
                network_from?: components["schemas"]["Network"];
                /** @description Destination network. Optional when the coin has one network only. */
                network_to?: components["schemas"]["Network"];
                /**
                 * @description Amount of `coin_from` to exchange: a JSON number of at most 40 characters. An exponent
                 *     must lie between -30 and 30. Without an amount, the pair's `min_amount` is quoted.
                 */
                amount?: number;
                /** @description `float` settles at the rate when the deposit is confirmed, `fixed` at the quoted rate. */
                rate_type?: components["schemas"]["RateType"];
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The quote, with the pair's limits. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateQuote"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createQuote: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateQuote"];
            };
        };
        responses: {
            /** @description The quote. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingQuote"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getQuote: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The `quote_id` of an earlier answer. */
                quote_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The quote with its present state. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingQuote"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    validateAddress: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckAddress"];
            };
        };
        responses: {
            /** @description What was found about the address. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddressCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    validateOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateOrder"];
            };
        };
        responses: {
            /** @description The order would be created. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description Only orders in one of these statuses, separated by commas or repeated. */
                status?: components["schemas"]["OrderStatus"][];
                /**
                 * @description Only these orders, by UUID or short id, separated by commas or repeated. Unknown ids,
                 *     and orders of others, are left out.
                 */
                ids?: string[];
                /** @description Only the order with this `external_id`. */
                external_id?: string;
                /** @description Only orders created at this time or later. */
                created_from?: string;
                /** @description Only orders created before this time. */
                created_to?: string;
                /** @description Only orders from this coin. */
                coin_from?: components["schemas"]["Coin"];
                /** @description Only orders to this coin. */
                coin_to?: components["schemas"]["Coin"];
                /** @description Only orders from this coin or to it. */
                coin?: components["schemas"]["Coin"];
                /** @description `created`: newest first. `updated`: as orders move, oldest move first. */
                sort?: "created" | "updated";
                /**
                 * @description Where a list with `sort=updated` begins when there is no cursor: before every move from
                 *     this time on. Some earlier moves may come too. Without it, the list begins with the
                 *     first order. It is ignored with a cursor.
                 */
                updated_since?: string;
                /** @description `details` adds the member `details` to each order. */
                include?: "details"[];
                /** @description Most orders of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, of a list with the same filters. */
                cursor?: string;
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["CursorExpired"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateOrder"];
            };
        };
        responses: {
            /** @description The new order, in status `waiting_deposit`. */
            201: {
                headers: {
                    /** @description Path of the order. */
                    Location?: string;
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order with its current status. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeOrder"];
            };
        };
        responses: {
            /** @description The order's details with the new metadata. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setRefundAddress: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetRefundAddress"];
            };
        };
        responses: {
            /** @description The order's details; `refund_address` is `set_later`. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order's details, in status group `expired`. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    renewOrderPage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order's details, with the new `public_url`. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeOrderPage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order's details, whose `public_url` is null. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    actOnOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActOnOrder"];
            };
        };
        responses: {
            /** @description The order's details, without the question. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOrderDetails: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The details. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOrderEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderEvents"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only events of these types, separated by commas or repeated. A cursor is bound to them. */
                types?: components["schemas"]["EventType"][];
                /**
                 * @description Where the feed begins when there is no cursor: before every event from this time on.
                 *     Some earlier events may come too. Without it, the feed begins with the first event. It
                 *     is ignored with a cursor.
                 */
                since?: string;
                /** @description Seconds to wait for an event when there is none. */
                wait?: number;
                /** @description Most events of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same types. */
                cursor?: string;
            };
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["CursorExpired"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events of these types, separated by commas or repeated. A cursor is bound to them. */
                types?: components["schemas"]["EventType"][];
                /**
                 * @description Where the feed begins when there is no cursor: before every event from this time on.
                 *     Some earlier events may come too. Without it, the feed begins with the first event. It
                 *     is ignored with a cursor.
                 */
                since?: string;
                /** @description A cursor of the feed with the same types. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the last event. It comes before `cursor`. */
                "Last-Event-ID"?: string;
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. It does not end by itself for an hour. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Accel-Buffering": components["headers"]["X-Accel-Buffering"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["CursorExpired"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The new endpoint with its secret. */
            201: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    /** @description Path of the endpoint. */
                    Location?: string;
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint as it was last. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint after the change. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecret"];
            };
        };
        responses: {
            /** @description The endpoint with its new secret. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result of the test. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state. */
                state?: components["schemas"]["DeliveryState"];
                /** @description Most deliveries of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same state. */
                cursor?: string;
            };
            header?: {
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    replayWebhookEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description Identifier of the endpoint. */
                endpoint_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayWebhookEvents"];
            };
        };
        responses: {
            /** @description How many events are sent again. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["CursorExpired"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCommissionBalance: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The balance. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommissionBalance"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listCommissionEntries: {
        parameters: {
            query?: {
                /** @description Only entries that were booked in this month, in UTC. */
                month?: string;
                /** @description Most entries of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same month. */
                cursor?: string;
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommissionEntryList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listStatements: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All statements. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatementList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getStatement: {
        parameters: {
            query?: {
                /** @description The form of the answer. */
                format?: "json" | "csv";
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The month in UTC. */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement, or its entries. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOrderReport: {
        parameters: {
            query?: {
                /** @description Orders that completed at this time or later. */
                completed_from?: string;
                /** @description Orders that completed before this time. */
                completed_to?: string;
                /** @description Most orders of a page. */
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same times. */
                cursor?: string;
            };
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of completed orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["CursorExpired"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    makeSandboxDeposits: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `string` asks for every amount and rate of the answer as a string, and allows strings for
                 *     the amounts of the body. Without it they are numbers. Any other value is answered with 400.
                 */
                Amounts?: components["parameters"]["Amounts"];
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["MakeSandboxDeposits"];
            };
        };
        responses: {
            /** @description The transactions that now wait for a block. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxDeposits"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    expireSandboxOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order, whose time has ended. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxOrder"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    reorgSandboxDeposit: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transactions that are gone. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxReorg"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    forceSandboxOutcome: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path: {
                /** @description The order's UUID or its short id. */
                order_id: string;
            };
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForceSandboxOutcome"];
            };
        };
        responses: {
            /** @description The order at this moment. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxOrder"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    emitSandboxEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters of your choice, bare or in double quotes.
                 *     A UUID, for example. The same key with the same request returns the same answer.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Hexadecimal HMAC-SHA256 of the exact bytes of the body. A GET signs the empty string.
                 *     The key of the HMAC is the secret: the part of the API key after the dot.
                 *     Verified when present. A signature that does not match is answered with 401.
                 */
                "X-Signature"?: components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 KiB of JSON in UTF-8, not compressed. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmitSandboxEvent"];
            };
        };
        responses: {
            /** @description The samples that are being sent. */
            200: {
                headers: {
                    /** @description `true` when this is the stored answer of an earlier request. */
                    "Idempotent-Replayed"?: "true";
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxSamples"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPublicStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The order's UUID. */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCoinIcon: {
        parameters: {
            query?: {
                /** @description Version of the icon, as in `icon_url`. */
                v?: string;
            };
            header?: {
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Ticker in lower case, followed by `.svg`. */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The icon. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description One or several `ETag`s of earlier answers. Longer headers are answered with 431. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description OpenAPI version. */
                        openapi: string;
                        /** @description Title, version and introduction. */
                        info: Record<string, never>;
                        /** @description Every endpoint. */
                        paths: Record<string, never>;
                    };
                };
            };
            /** @description Unchanged since the `ETag` that the request named. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
