import { AccountRole, type Instruction } from '@solana/kit';
import { instruction } from './instructions.ts';
import { joined, keyOf } from './keys.ts';
import { littleEndian } from './reader.ts';

/**
 * A program that calls another one: the first of its accounts, with all other accounts and with its
 * own data. It is assembled here, because there is no compiler. Its form is what the loader of
 * Solana reads: an ELF file of sBPF version 0.
 * https://github.com/anza-xyz/sbpf, https://solana.com/docs/programs/rust/program-structure
 */
export function forwarderProgram(): Uint8Array {
  return elfOf(code());
}

export const forwarder = keyOf('a program that calls another one').address;

/** The same by an inner call: no instruction of the transaction itself does it. */
export function inner({ programAddress, accounts = [], data = new Uint8Array() }: Instruction): Instruction {
  const roles = accounts.map(({ address, role }) => [address, role] as const);
  return instruction(forwarder, [[programAddress, AccountRole.READONLY], ...roles], Uint8Array.from(data));
}

/** Memory that a program may write. */
const heap = { instruction: 0x3_0000_0000n, metas: 0x3_0000_0100n, infos: 0x3_0000_1000n };

/** One instruction of the processor: operation, target, source, offset, number. */
function op(operation: number, target: number, source = 0, offset = 0, number = 0): Uint8Array {
  const [low, high] = [offset & 0xff, (offset >> 8) & 0xff];
  return joined([
    Uint8Array.of(operation, target | (source << 4), low, high),
    littleEndian(BigInt.asUintN(32, BigInt(number)), 4),
  ]);
}

const move = (target: number, source: number) => op(0xbf, target, source);
const set = (target: number, number: number) => op(0xb7, target, 0, 0, number);
const add = (target: number, number: number) => op(0x07, target, 0, 0, number);
const load = (target: number, from: number, offset: number) => op(0x79, target, from, offset);
const store = (to: number, offset: number, source: number) => op(0x7b, to, source, offset);
const loadByte = (target: number, from: number, offset: number) => op(0x71, target, from, offset);
const storeByte = (to: number, offset: number, source: number) => op(0x73, to, source, offset);
const setAddress = (target: number, address: bigint) =>
  joined([op(0x18, target, 0, 0, Number(address & 0xffff_ffffn)), op(0, 0, 0, 0, Number(address >> 32n))]);

/** Writes the address of a part of the account at register 6 into the entry of `infos`. */
const storeAddress = (slot: number, offset: number) => joined([move(4, 6), add(4, offset), store(9, slot, 4)]);

/**
 * Registers: 6 the account being read, 7 how many there are, 8 its index, 9 its entry of `infos`, 2
 * its entry of `metas`.
 */
function code(): Uint8Array {
  const start = [move(6, 1), load(7, 6, 0), add(6, 8), set(8, 0), setAddress(9, heap.infos), setAddress(2, heap.metas)];
  const info = [
    ...[storeAddress(0, 8), storeAddress(8, 72), load(5, 6, 80), store(9, 16, 5)],
    ...[storeAddress(24, 88), storeAddress(32, 40), set(4, 0), store(9, 40, 4)],
    ...[1, 2, 3].flatMap((flag) => [loadByte(4, 6, flag), storeByte(9, 47 + flag, 4)]),
  ];
  const meta = [
    ...[move(3, 6), add(3, 8), store(2, 0, 3)],
    ...[loadByte(4, 6, 2), storeByte(2, 8, 4), loadByte(4, 6, 1), storeByte(2, 9, 4), add(2, 16)],
  ];
  // Behind its data an account has room to grow, and its last member.
  const next = [add(6, 88 + 10_240 + 7), op(0x0f, 6, 5), op(0x57, 6, 0, 0, -8), add(6, 8), add(9, 56), add(8, 1)];
  const [infoSize, metaSize, nextSize] = [info, meta, next].map((part) => joined(part).length / 8) as [
    number,
    number,
    number,
  ];
  const body = infoSize + 1 + metaSize + nextSize;
  const loop = [
    op(0x3d, 8, 7, body + 1),
    ...info,
    // The first account is the program to call.
    op(0x15, 8, 0, metaSize, 0),
    ...meta,
    ...next,
    op(0x05, 0, 0, -(body + 2)),
  ];
  const call = [
    ...[load(4, 6, 0), add(6, 8), setAddress(1, heap.instruction), setAddress(2, heap.infos)],
    ...[load(5, 2, 0), store(1, 0, 5), setAddress(5, heap.metas), store(1, 8, 5)],
    ...[move(3, 7), add(7, -1), store(1, 16, 7), store(1, 24, 6), store(1, 32, 4), set(4, 0), set(5, 0)],
  ];
  // The number of the call is filled in by the loader.
  return joined([...start, ...loop, ...call, op(0x85, 0, 1, 0, -1), op(0x95, 0)]);
}

const textAt = 64 + 2 * 56;

/** An ELF file with one function, which makes one system call just before it ends. */
function elfOf(text: Uint8Array): Uint8Array {
  const names = bytesOfText('\0sol_invoke_signed_c\0');
  const sections = ['.text', '.dynsym', '.dynstr', '.rel.dyn', '.dynamic', '.shstrtab'];
  const sectionNames = bytesOfText(`\0${sections.join('\0')}\0`);
  const symbols = joined([new Uint8Array(24), u32(1), Uint8Array.of(0x10, 0), u16(0), u64(0), u64(0)]);
  const callAt = textAt + text.length - 16;
  const relocation = joined([u64(callAt), u32(10), u32(1)]);
  const symbolsAt = textAt + text.length;
  const namesAt = symbolsAt + symbols.length;
  const relocationAt = namesAt + padded(names).length;
  const dynamicAt = relocationAt + relocation.length;
  const entries = [
    [17, relocationAt],
    [18, relocation.length],
    [19, 16],
    [6, symbolsAt],
    [11, 24],
    [5, namesAt],
    [10, names.length],
    [0, 0],
  ];
  const dynamic = joined(entries.flatMap(([tag = 0, value = 0]) => [u64(tag), u64(value)]));
  const sectionNamesAt = dynamicAt + dynamic.length;
  const headersAt = sectionNamesAt + padded(sectionNames).length;
  const [loads, dynamics] = [1, 2];
  const segment = (type: number, flags: number, at: number, size: number) =>
    joined([u32(type), u32(flags), u64(at), u64(at), u64(at), u64(size), u64(size), u64(8)]);
  let nameAt = 1;
  const section = (index: number, type: number, flags: number, at: number, size: number, link = 0, entry = 0) => {
    const head = joined([u32(nameAt), u32(type), u64(flags), u64(index === 5 ? 0 : at), u64(at), u64(size)]);
    nameAt += (sections[index]?.length ?? 0) + 1;
    return joined([head, u32(link), u32(type === 11 ? 1 : 0), u64(type === 3 ? 1 : 8), u64(entry)]);
  };
  return joined([
    Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    ...[u16(3), u16(247), u32(1), u64(textAt), u64(64), u64(headersAt), u32(0)],
    ...[u16(64), u16(56), u16(2), u16(64), u16(sections.length + 1), u16(sections.length)],
    ...[segment(loads, 5, textAt, sectionNamesAt - textAt), segment(dynamics, 6, dynamicAt, dynamic.length)],
    ...[text, symbols, padded(names), relocation, dynamic, padded(sectionNames)],
    new Uint8Array(64),
    section(0, 1, 6, textAt, text.length),
    section(1, 11, 2, symbolsAt, symbols.length, 3, 24),
    section(2, 3, 2, namesAt, names.length),
    section(3, 9, 2, relocationAt, relocation.length, 2, 16),
    section(4, 6, 3, dynamicAt, dynamic.length, 3, 16),
    section(5, 3, 0, sectionNamesAt, sectionNames.length),
  ]);
}

const u16 = (value: number) => littleEndian(value, 2);
const u32 = (value: number) => littleEndian(value, 4);
const u64 = (value: number) => littleEndian(value, 8);

function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function padded(bytes: Uint8Array): Uint8Array {
  return joined([bytes, new Uint8Array((8 - (bytes.length % 8)) % 8)]);
}
