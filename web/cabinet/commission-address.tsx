import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Dialog, Form, type FormFaults, type FormField } from '../ui/dialog.tsx';
import { words } from '../ui/format.ts';
import { Ago, Badge, Card, Copy, Empty, Facts, Notice, Table, TextBlock, Time } from '../ui/parts.tsx';
import { type Answer, type Asked, addressOf, call, type Schemas } from './api.ts';
import { assetName } from './commission-words.ts';
import { actionFaults } from './faults.ts';
import { useMay, useMe } from './session.tsx';
import { type Action, Actions } from './shared.tsx';

type Addresses = Answer<'getCommissionAddresses'>;
type Address = Schemas['CommissionAddress'];
type Asset = Schemas['CommissionAsset'];
type Request = Asked<'setCommissionAddress'>['body'];

/** Where commission is paid to: what is in effect, what waits, and the form of another one. */
export function CommissionAddress(props: {
  of: Addresses;
  /** What the present month is settled in. */
  settled: { readonly coin: string; readonly network: string };
}): ReactNode {
  const { of, settled } = props;
  const may = useMay();
  const { member } = useMe();
  const [isOpen, setOpen] = useState(false);
  const mayWrite = may('commission:write');
  const shown = [...(of.waiting ? [of.waiting] : []), ...of.in_effect];
  return (
    <Card
      title="Address"
      flush
      tools={
        mayWrite ? (
          <button type="button" className="button small primary" onClick={() => setOpen(true)}>
            {shown.length === 0 ? 'Set an address' : 'Change the address'}
          </button>
        ) : null
      }
    >
      {shown.length === 0 ? (
        <Empty icon="money" title="No address yet">
          <p>Commission adds up meanwhile. It is paid once an address has taken effect.</p>
        </Empty>
      ) : (
        <ul className="items">
          {shown.map((address) => (
            <AddressItem key={address.id} of={address} mayCancel={mayWrite} />
          ))}
        </ul>
      )}
      {mayWrite ? null : (
        <p className="item muted small">Only an owner sets or cancels an address. Your role is {member.role}.</p>
      )}
      {of.history.length > shown.length ? <History of={of.history} /> : null}
      {isOpen ? <AddressDialog of={of} settled={settled} onClose={() => setOpen(false)} /> : null}
    </Card>
  );
}

function AddressItem({ of: address, mayCancel }: { of: Address; mayCancel: boolean }): ReactNode {
  const waits = address.state === 'waiting';
  return (
    <li className="item">
      <header>
        <h3 className="item-title">{assetName(address)}</h3>
        <Badge tone={waits ? 'warn' : 'good'}>{waits ? 'Waits' : 'In effect'}</Badge>
        {waits && mayCancel ? <Actions of={[cancelOf(address)]} small /> : null}
      </header>
      <Facts
        of={[
          ['Address', <Copy key="a" text={address.address} label={waits ? 'new address' : 'address'} />],
          ['Memo or tag', address.tag === null ? null : <Copy key="m" text={address.tag} label="memo" />],
          [
            'Takes effect',
            waits ? (
              <span key="t">
                <Time at={address.effective_at} />, <Ago at={address.effective_at} />
              </span>
            ) : null,
          ],
          ['In effect since', address.took_effect_at ? <Time key="s" at={address.took_effect_at} /> : null],
          [
            'Requested',
            <span key="r">
              by {address.requested_by ?? 'our team'}, <Time at={address.requested_at} />
            </span>,
          ],
        ]}
      />
      {waits ? (
        <p className="muted small">
          {address.old_is_lost
            ? 'The old address is lost: nothing is paid until this one takes effect.'
            : 'Payments go to the address in effect until then.'}
        </p>
      ) : null}
    </li>
  );
}

function cancelOf({ id, address }: Address): Action {
  return {
    name: 'Cancel it',
    icon: 'close',
    title: 'Cancel the new address',
    about: (
      <>
        <code>{address}</code> does not take effect. The address in effect stays. If none of you has requested it, look
        at your team: somebody has used the passkey of an owner.
      </>
    ),
    isDangerous: true,
    run: async () => {
      await call('cancelCommissionAddress', { path: { address_id: id } });
      return null;
    },
  };
}

function History({ of }: { of: readonly Address[] }): ReactNode {
  return (
    <Table
      label="All addresses"
      head={
        <>
          <th>Asset</th>
          <th>Address</th>
          <th>State</th>
          <th>Requested</th>
        </>
      }
    >
      {of.map((address) => (
        <tr key={address.id}>
          <td>{assetName(address)}</td>
          <td>
            <Copy text={address.address} label="earlier address" short />
          </td>
          <td>{words(address.state)}</td>
          <td>
            <Time at={address.requested_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** A request that its owner looks at, and what the form below is told in the end. */
interface Review {
  readonly body: Request;
  readonly values: Readonly<Record<string, string>>;
  readonly end: (faults: FormFaults | null) => void;
}

const unchanged: FormFaults = { whole: null, fields: {} };

/**
 * The form of another address. What it makes is shown once more in the form that the passkey
 * confirms. A refusal comes back to the field that it is about.
 */
function AddressDialog(props: { of: Addresses; settled: { coin: string; network: string }; onClose: () => void }) {
  const { of, settled, onClose } = props;
  const usual = of.assets.find(({ coin, network }) => coin === settled.coin && network === settled.network);
  const [asset, setAsset] = useState<Asset | undefined>(usual ?? of.assets[0]);
  const [review, setReview] = useState<Review | null>(null);
  if (asset === undefined) return null;
  const submit = ({ address = '', tag = '', old_is_lost: isLost }: Record<string, string>) =>
    new Promise<FormFaults | null>((end) => {
      const body = {
        coin: asset.coin,
        network: asset.network,
        address: address.trim(),
        tag: (asset.tag && tag.trim()) || null,
        old_is_lost: isLost === 'true',
      };
      setReview({ body, values: { address, ...(asset.tag ? { tag } : {}) }, end });
    });
  return (
    <>
      <Dialog title="Another address for your commission" onClose={onClose}>
        <p className="muted">
          It takes effect after 72 hours, so that your team can cancel one that is not yours. A month is settled in the
          asset of the address that was in effect when it began.
        </p>
        <label className="field">
          <span>Coin and network</span>
          <select
            className="input"
            value={assetName(asset)}
            onChange={({ target }) => setAsset(of.assets.find((one) => assetName(one) === target.value))}
          >
            {of.assets.map((one) => (
              <option key={assetName(one)}>{assetName(one)}</option>
            ))}
          </select>
        </label>
        <Form fields={fieldsOf(asset, of)} action="Continue" submit={submit} onCancel={onClose} />
      </Dialog>
      {review ? (
        <ReviewDialog
          of={review}
          onBack={(faults) => {
            setReview(null);
            review.end(faults);
          }}
          onDone={() => {
            review.end(null);
            onClose();
          }}
        />
      ) : null}
    </>
  );
}

function fieldsOf({ network, tag }: Asset, { in_effect: inEffect }: Addresses): FormField[] {
  const lost: FormField = {
    name: 'old_is_lost',
    label: 'The address in effect is lost',
    kind: 'check',
    hint: 'Nothing is paid to it any more. Commission waits until the new one takes effect.',
    isOptional: true,
  };
  return [
    { name: 'address', label: 'Address', hint: `An address of yours on ${network}.` },
    ...(tag ? [{ name: 'tag', label: words(tag), hint: 'Exchanges usually ask for one.', isOptional: true }] : []),
    ...(inEffect.length === 0 ? [] : [lost]),
  ];
}

function ReviewDialog(props: { of: Review; onBack: (faults: FormFaults) => void; onDone: () => void }): ReactNode {
  const { body, values } = props.of;
  const client = useQueryClient();
  const submit = async (): Promise<FormFaults | null> => {
    try {
      await call('setCommissionAddress', { body });
    } catch (error) {
      const faults = actionFaults(error, values);
      // A fault of a field is shown there. Any other is shown here, to try again.
      if (faults.whole !== null) return faults;
      props.onBack(faults);
      return null;
    }
    void client.invalidateQueries();
    props.onDone();
    return null;
  };
  return (
    <Dialog title="Is this your address?" onClose={() => props.onBack(unchanged)}>
      <Facts
        of={[
          ['Asset', assetName(body)],
          ['Address', <code key="a">{body.address}</code>],
          ['Memo or tag', body.tag ? <code key="t">{body.tag}</code> : null],
          ['Old address', body.old_is_lost ? 'Lost: nothing is paid to it any more' : null],
        ]}
      />
      <TextBlock
        label="What your passkey confirms, and nothing else"
        text={`POST ${addressOf('setCommissionAddress')}\n${JSON.stringify(body)}`}
      />
      <Notice>Your passkey is asked for again.</Notice>
      <Form fields={[]} action="Confirm" submit={submit} onCancel={() => props.onBack(unchanged)} />
    </Dialog>
  );
}
