import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Dialog, Form, type FormFaults } from '../../ui/dialog.tsx';
import { GatewayError } from '../../ui/failure.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Copy, Empty, Notice } from '../../ui/parts.tsx';
import { call, query, type Schemas } from '../api.ts';
import { actionFaults } from '../faults.ts';
import { networksOf } from '../network.ts';
import { Allowed, useMay } from '../session.tsx';

type Key = Schemas['Key'];

/** The IP addresses that may use each key. */
export function IpAddresses(): ReactNode {
  const may = useMay();
  const keys = useQuery({ ...query('listKeys', {}), enabled: may('keys:read') });
  const [open, setOpen] = useState<Key | null>(null);
  return (
    <Allowed to="keys:read">
      <div className="page">
        <PageHead
          title="IP addresses"
          lead="Allow each key only where your programs run. A key that leaks is then of no use elsewhere."
        />
        <Loaded of={keys}>
          {({ data, your_address }) => {
            const live = data.filter(({ state }) => state === 'live' || state === 'expires');
            return (
              <>
                <Notice>
                  Your IP address is <Copy text={your_address} label="your IP address" />. Your programs may have
                  others.
                </Notice>
                <Card title="Live keys" flush>
                  {live.length === 0 ? (
                    <Empty icon="networks" title="No live key">
                      <p>The IP addresses that may use each key would be here.</p>
                    </Empty>
                  ) : null}
                  <ul className="items">
                    {live.map((key) => (
                      <li key={key.key_id} className="item">
                        <header>
                          <div>
                            <h3 className="item-title">{key.label || 'Without a label'}</h3>
                            <code className="muted small">
                              {key.key_id} …{key.last4}
                            </code>
                          </div>
                          <Badge tone={key.networks.length === 0 ? 'warn' : 'good'}>
                            {key.networks.length === 0 ? 'Every IP address' : 'Restricted'}
                          </Badge>
                          {may('keys:write') ? (
                            <button type="button" className="button small" onClick={() => setOpen(key)}>
                              Change IP addresses<span className="hidden"> of {key.label}</span>
                            </button>
                          ) : null}
                        </header>
                        {key.networks.length === 0 ? null : (
                          <p className="tags">
                            {key.networks.map((network) => (
                              <span key={network} className="tag">
                                {network}
                              </span>
                            ))}
                          </p>
                        )}
                        <p className="muted small">
                          {key.last_used_at ? (
                            <>
                              Last used <Ago at={key.last_used_at} />
                            </>
                          ) : (
                            'Never used'
                          )}
                        </p>
                      </li>
                    ))}
                  </ul>
                </Card>
                {open ? <AddressDialog of={open} address={your_address} onClose={() => setOpen(null)} /> : null}
              </>
            );
          }}
        </Loaded>
      </div>
    </Allowed>
  );
}

/**
 * The form of a key's IP addresses. The server refuses a list without the address that used the key
 * last; the form then asks for a confirmation.
 */
function AddressDialog(props: { of: Key; address: string; onClose: () => void }): ReactNode {
  const { of: key, address, onClose } = props;
  const client = useQueryClient();
  const [isLockOut, setLockOut] = useState(false);
  const submit = async (values: Record<string, string>): Promise<FormFaults | null> => {
    const { networks = '', confirm_lock_out: mayLockOut } = values;
    try {
      await call('setKeyNetworks', {
        path: { key_id: key.key_id },
        body: { networks: networksOf(networks), ...(mayLockOut === 'true' ? { confirm_lock_out: true } : {}) },
      });
      void client.invalidateQueries();
      onClose();
      return null;
    } catch (error) {
      if (error instanceof GatewayError && error.kind === 'network_locked_out') {
        setLockOut(true);
        return { whole: error.message, fields: {} };
      }
      return actionFaults(error, values);
    }
  };
  return (
    <Dialog title={`IP addresses of ${key.label || key.key_id}`} onClose={onClose}>
      <p className="muted">Only these IP addresses may use the key. An empty list allows every address.</p>
      <Notice>Your passkey is asked for again.</Notice>
      <Form
        fields={[
          {
            name: 'networks',
            label: 'Allowed IP addresses',
            kind: 'long',
            isOptional: true,
            initial: key.networks.join('\n'),
            placeholder: '203.0.113.0/24',
            hint: `One a line: an address, or a range in CIDR notation. Your own address is ${address}.`,
          },
          ...(isLockOut
            ? [
                {
                  name: 'confirm_lock_out',
                  label: 'Lock out the address that used the key last',
                  kind: 'check' as const,
                  hint: 'The program at that address is refused from then on.',
                },
              ]
            : []),
        ]}
        action="Set the IP addresses"
        isDangerous={isLockOut}
        submit={submit}
        onCancel={onClose}
      />
    </Dialog>
  );
}
