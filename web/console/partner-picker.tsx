import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { query } from './api.ts';
import { PartnerNameDocument, PartnerNamesDocument } from './generated/graphql.ts';

/** After the last key press, so that typing does not ask for each letter. */
const typingMs = 150;

interface Choice {
  readonly id: string;
  readonly name: string;
}

/**
 * A pick of one partner, or of none. The server searches by name as one types, so that any number
 * of partners can be reached.
 */
export function PartnerPicker(props: {
  label: string;
  /** The choice of no partner: 'Any partner'. */
  none: string;
  /** The id of the chosen partner; empty for none. */
  value: string;
  onChange: (id: string) => void;
  isSmall?: boolean;
}): ReactNode {
  const { label, none, value, onChange } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Null while the list is closed: the input then shows the chosen partner.
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const isOpen = typed !== null;
  const search = useSettled(typed?.trim() ?? '');
  const chosen = useQuery({ ...query('partner-name', PartnerNameDocument, { id: value }), enabled: value !== '' });
  const found = useQuery({
    ...query('partner-names', PartnerNamesDocument, { search: search || null }),
    enabled: isOpen,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const partners = found.data?.partnerList.edges.map(({ node }) => node) ?? [];
  const choices: readonly Choice[] = [...(search === '' ? [{ id: '', name: none }] : []), ...partners];
  const place = Math.min(active, choices.length - 1);
  const name = value === '' ? '' : (chosen.data?.partner.name ?? value);

  const open = (): void => {
    setTyped((now) => now ?? '');
    setActive(0);
  };
  const close = (): void => setTyped(null);
  const choose = (choice: Choice | undefined): void => {
    if (!choice) return;
    close();
    if (choice.id !== value) onChange(choice.id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && !(isOpen && (key === 'Enter' || key === 'Escape'))) return;
    event.preventDefault();
    if (key === 'Enter') choose(choices[place]);
    else if (key === 'Escape') close();
    else if (isOpen) setActive(Math.max(0, Math.min(choices.length - 1, place + step)));
    else open();
  };
  const optionId = (index: number): string => `${id}-${index}`;
  useEffect(() => {
    if (isOpen) document.getElementById(`${id}-${place}`)?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, id, place]);

  return (
    <span className="picker">
      <input
        ref={input}
        className={`input ${props.isSmall ? 'small' : ''}`}
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(isOpen && place >= 0 ? { 'aria-activedescendant': optionId(place) } : {})}
        placeholder={isOpen ? 'Name or id' : none}
        autoComplete="off"
        spellCheck={false}
        value={typed ?? name}
        onFocus={open}
        onClick={open}
        onBlur={close}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          setTyped(target.value);
          setActive(0);
        }}
      />
      {isOpen ? (
        <span className="choices">
          <span id={`${id}-list`} role="listbox" aria-label={label} aria-busy={found.isFetching}>
            {choices.map((choice, index) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the keyboard stays in the input, which names the active option
              // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys
              <span
                key={choice.id}
                id={optionId(index)}
                role="option"
                aria-selected={index === place}
                className={choice.id === '' ? 'muted' : ''}
                // The input keeps the focus, so that the list stays until the click is over.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(choice)}
              >
                {choice.name}
              </span>
            ))}
          </span>
          <Remark
            text={
              found.error
                ? found.error.message
                : found.data === undefined
                  ? 'Searching…'
                  : partners.length === 0
                    ? 'No partner fits.'
                    : found.data.partnerList.pageInfo.hasNextPage
                      ? 'More partners fit: type on.'
                      : null
            }
          />
        </span>
      ) : null}
    </span>
  );
}

function Remark({ text }: { text: string | null }): ReactNode {
  return (
    <span className="muted small" role="status">
      {text}
    </span>
  );
}

/** A text once it has stood still for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
