/**
 * START HERE. Is this file mine alone? Whether what stands at a path may be from another user, who could read or forge
 * what is in it. What opens, replaces, resumes or removes a file asks here.
 */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { basename, dirname, join, parse, resolve } from "node:path"

/** A file that is not used, since another user may have put it there. `advice` says what to do. */
export class ForeignFile extends Error {
  /** `SQLITE_PERM`: the same error for who reads codes of SQLite. */
  readonly errcode = 3
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

const find = (path: string) => Fs.lstatSync(path, { throwIfNoEntry: false })

/** Who runs, by the folder of a file, as its file system says it: a server may map users, and no process can see how. */
const selves = new Map<string, number>()

/** The owner of a file that is made beside another one. Without users, as on Windows, each file is of user 0. */
const selfBeside = (file: string): number => {
  if (process.geteuid === undefined) return 0
  const folder = dirname(file)
  const self = selves.get(folder) ?? ownerOfNew(file) ?? process.geteuid()
  selves.set(folder, self)
  return self
}

/** `undefined` if this user may not create a file there. */
const ownerOfNew = (file: string): number | undefined => {
  const probe = scratchOf(file)
  try {
    const descriptor = Fs.openSync(probe, "wx", 0o600)
    try {
      return Fs.fstatSync(descriptor).uid
    } finally {
      Fs.closeSync(descriptor)
      Fs.unlinkSync(probe)
    }
  } catch {
    // Who cannot create a file there has none there.
    return undefined
  }
}

/** In a container each process may have the number of the one before. */
const ownStart = globalThis.crypto.randomUUID().slice(0, 8)
const ownEnd = process.pid.toString(16).padStart(12, "0")

/** A name for a file that is written beside another one, whose place it takes. The process is its first and last digits. */
export const scratchOf = (file: string): string =>
  `${file}.${ownStart}${globalThis.crypto.randomUUID().slice(8, -12)}${ownEnd}.tmp`

/** Removes what runs of this user that were killed left beside a file. What a run still writes stays. */
export const removeScratch = (file: string): void => {
  const [folder, start] = [dirname(file), `${basename(file)}.`]
  let names: ReadonlyArray<string> = []
  try {
    names = Fs.readdirSync(folder)
  } catch {
    // Who may write to a folder, and not list it, sees none. A folder that is not there fails when the file is written.
  }
  for (const name of names) {
    const id = name.startsWith(start) && name.endsWith(".tmp") ? name.slice(start.length, -4) : ""
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) || isInProgress(id)) continue
    removeOwn(join(folder, name))
  }
}

const isInProgress = (id: string): boolean => {
  if (id.endsWith(ownEnd)) return id.startsWith(ownStart)
  try {
    return process.kill(Number.parseInt(id.slice(-12), 16), 0)
  } catch {
    // There is none, or it is of another user.
    return false
  }
}

/** As many as Linux follows. */
const maxLinks = 40

/**
 * The path behind all links of a path, whose last part need not exist; `undefined` if it has too many. In a folder where every user
 * may create files, and remove only the own ones, a link must be of who runs or of the folder's owner: the kernel follows no other,
 * but it is not asked by who reads links by hand, as SQLite does too. Throws a `ForeignFile` for another one.
 */
export const follow = (named: string): string | undefined => {
  let folder = ""
  let rest: Array<string> = []
  const enter = (path: string) => {
    folder = parse(path).root
    rest = [...path.slice(folder.length).split(/[/\\]/).filter((name) => name !== ""), ...rest]
  }
  enter(resolve(named))
  for (let links = 0; links <= maxLinks;) {
    const name = rest.shift()
    if (name === undefined) return folder
    const path = join(folder, name)
    const found = isDescriptorFolder(folder) ? undefined : find(path)
    if (found?.isSymbolicLink() === true) {
      checkPlanted(path, found, "a link ")
      enter(resolve(folder, Fs.readlinkSync(path)))
      links++
    } else folder = path
  }
  return undefined
}

/** `/dev/stdout` is a link into such a folder. What it leads to may be a regular file that a shell has opened. */
export const isDescriptorFolder = (folder: string): boolean =>
  /^\/(dev\/fd|proc\/\d+\/(task\/\d+\/)?fd)$/.test(folder.replaceAll("\\", "/"))

/** Whether another user may have put it under a name in a folder as `/tmp`, so that this user writes where that one wants. */
export const isPlanted = (path: string, found = find(path)): boolean => {
  const folder = Fs.statSync(dirname(path), { throwIfNoEntry: false })
  if (found === undefined || folder === undefined || (folder.mode & 0o1002) !== 0o1002) return false
  return found.uid !== folder.uid && found.uid !== selfBeside(path)
}

/** Throws for what another user may have put there. */
export const checkPlanted = (path: string, found = find(path), what = ""): void => {
  if (found === undefined || !isPlanted(path, found)) return
  throw new ForeignFile(
    `${path} is ${what}of another user (${found.uid}), in a folder where every user may create files`,
    "Name a file in a folder that only you may write."
  )
}

/**
 * Opens what an earlier run of this user left at a path, and calls `use` with its descriptor; `undefined` if there is nothing. Throws
 * a `ForeignFile` unless it is a regular file of this user: another one could have forged it.
 */
export const withOwn = <A>(path: string, advice: string, use: (descriptor: number, found: Fs.Stats) => A) => {
  const check = (found: Fs.Stats) => {
    if (!found.isFile()) throw new ForeignFile(`${path} is ${kindOf(found)}, and not a regular file`, advice)
    if (found.uid === selfBeside(path)) return
    throw new ForeignFile(`${path} is of another user (${found.uid}), who could have forged it`, advice)
  }
  const found = find(path)
  if (found === undefined) return undefined
  check(found)
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = Fs.constants
  const descriptor = Fs.openSync(path, O_NOFOLLOW | O_NONBLOCK)
  try {
    const opened = Fs.fstatSync(descriptor)
    check(opened)
    return use(descriptor, opened)
  } finally {
    Fs.closeSync(descriptor)
  }
}

/** Removes a regular file of this user. */
export const removeOwn = (path: string): void => {
  const found = find(path)
  if (found?.isFile() === true && found.uid === selfBeside(path)) Fs.rmSync(path, { force: true })
}

/** Who else may write a file that this user obeys, in words; `undefined` if only root may. */
export const otherWriter = (file: string): string | undefined => {
  const found = Fs.statSync(file, { throwIfNoEntry: false })
  if (process.geteuid === undefined || found?.isFile() !== true) return undefined
  if (![0, process.geteuid()].includes(found.uid) && found.uid !== selfBeside(Fs.realpathSync(file))) {
    return `belongs to user ${found.uid}`
  }
  if ((found.mode & 0o002) !== 0) return "may be written by every user"
  if ((found.mode & 0o020) !== 0) return `may be written by group ${found.gid}`
  return openFolderOf(file) === undefined ? undefined : "may be replaced by every user"
}

/** What SQLite keeps beside a database, and believes from any user. */
const suffixes = ["-wal", "-journal", "-shm"]

/**
 * Throws a `ForeignFile` unless each file beside a database is a regular one, without a second name, of who owns the database, of
 * root or of who runs. The users who may write the database may own them too, if no other user can create files in its folder.
 * `held`: which of them the database has open, so that they must be there.
 */
export const checkCompanions = (
  filename: string,
  held: ReadonlyArray<string> = [],
  asked: ReadonlyArray<string> = suffixes
): void => {
  const file = follow(filename) ?? filename
  for (const suffix of asked) {
    const found = find(file + suffix)
    if (found === undefined) {
      if (!held.includes(suffix)) continue
      throw new ForeignFile(`${file}${suffix} was taken away while this process had it open`, seek)
    }
    if (!found.isFile()) throw new ForeignFile(`${file}${suffix} is ${kindOf(found)}, and not a regular file`, seek)
    if (found.nlink > 1)
      throw new ForeignFile(`${file}${suffix} has a second name, a hard link`, unlinked(file + suffix))
    if (!mayBelong(found.uid, file)) {
      throw new ForeignFile(
        `${file}${suffix} belongs to user ${found.uid}, who does not own ${basename(file)}: it could be forged`,
        settled(file, found.uid, asked)
      )
    }
  }
}

/**
 * Creates what is not there of the files beside a database, so that no other user can in a folder where all may, and returns what
 * removes the journal again: SQLite plays one back before anybody can look whose it is. Root needs it to read too: what SQLite
 * opens for root it gives to the owner of the database.
 */
export const takeNames = (filename: string, isReadOnly: boolean): () => void => {
  const file = Fs.realpathSync(filename)
  const isRoot = process.geteuid?.() === 0
  if ((Fs.statSync(dirname(file)).mode & 0o002) === 0 || (isReadOnly && !isRoot)) return () => {}
  const { gid, mode, uid } = Fs.statSync(file)
  const inodes = suffixes.map((suffix) => {
    const path = file + suffix
    let descriptor: number
    try {
      descriptor = Fs.openSync(path, "wx", 0o600)
    } catch (error) {
      // There is one, maybe of another process of this user: whose it is, is asked next. On a read-only file system no user can.
      if (isError(error, "EEXIST") || isError(error, "EROFS")) return undefined
      throw error
    }
    try {
      const made = Fs.fstatSync(descriptor)
      if (isRoot && (made.uid !== uid || made.gid !== gid)) Fs.fchownSync(descriptor, uid, gid)
      if (((made.mode ^ mode) & 0o666) !== 0) Fs.fchmodSync(descriptor, mode & 0o666)
      return made.ino
    } finally {
      Fs.closeSync(descriptor)
    }
  })
  const journal = suffixes.indexOf("-journal")
  return () => {
    const ino = inodes[journal]
    if (ino !== undefined && find(`${file}-journal`)?.ino === ino) Fs.unlinkSync(`${file}-journal`)
  }
}

const isError = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code

const kindOf = (found: Fs.Stats): string =>
  found.isSymbolicLink() ? "a link" : found.isDirectory() ? "a folder" : found.isFIFO() ? "a pipe" : "of another kind"

const mayBelong = (owner: number, file: string): boolean => {
  const { mode, uid } = Fs.statSync(file, { throwIfNoEntry: false }) ?? { mode: 0, uid: 0 }
  if (owner === uid || owner === 0 || owner === process.geteuid?.()) return true
  const groupMay = (mode & 0o020) !== 0 && (Fs.statSync(dirname(file)).mode & 0o002) === 0
  return groupMay || (mode & 0o002) !== 0 || owner === selfBeside(file)
}

const seek =
  "SQLite does not do that. Find out who did, and keep the database in a folder that only its owner may write."

const unlinked = (path: string): string => {
  const name = basename(path)
  return `It may have commits: keep it. Once no process has the database open, make it a separate file: cp -p ${name} ${name}.own && mv ${name}.own ${name}`
}

const settled = (file: string, owner: number, asked: ReadonlyArray<string>): string => {
  const foreign = asked.filter((suffix) => {
    const found = find(file + suffix)
    return found !== undefined && !mayBelong(found.uid, file)
  }).map((suffix) => basename(file) + suffix)
  return hasLog(file)
    ? `It may have commits that are nowhere else: keep it. User ${owner}, its owner, syncs the copy once, or root gives it to the owner of the database if that user is trusted (chown --reference=${
      basename(file)
    } ${foreign.join(" ")}); time-punches copy status shows whether all is there.`
    : `It has no commits. Once no process has the database open, remove ${foreign.join(" and ")}, and run this again.`
}

/** Whether there are changes that are not in the file yet: of a write-ahead log, or of a transaction that is to be rolled back. */
export const hasLog = (filename: string): boolean => {
  const file = follow(filename) ?? filename
  return ["-wal", "-journal"].some((suffix) => (find(file + suffix)?.size ?? 0) > 0)
}

/** Whether who runs owns neither a database nor a file beside it: what this user made there, the owner could not write. */
export const ownsNothing = (filename: string): boolean => {
  const file = Fs.realpathSync(filename)
  const self = process.geteuid?.()
  return self !== undefined && ["", ...suffixes].every((suffix) => (find(file + suffix)?.uid ?? -1) !== self)
}

/** The folder of a file, if any user may replace the files in it: whom a file there belongs to says nothing. */
export const openFolderOf = (filename: string): string | undefined => {
  // Without users, as on Windows, the bits of the mode say nothing.
  if (process.geteuid === undefined) return undefined
  try {
    const folder = dirname(Fs.existsSync(filename) ? Fs.realpathSync(filename) : filename)
    return (Fs.statSync(folder).mode & 0o1002) === 0o002 ? folder : undefined
  } catch {
    // It is not there, or this user may not look into it: who opens the file says so.
    return undefined
  }
}

/** A file that was opened, by what the file system knows it by. */
export interface Opened {
  readonly dev: bigint
  readonly ino: bigint
}

/** Whether a path names the file that was opened under it, and not a link. Some file systems number no files. */
export const isStill = (path: string, opened: Opened): boolean => {
  const found = Fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found !== undefined && found.isFile() && isSame(found, opened)
}

/** Node reads a number from 2^63 on as a negative one, which \`FileSystem\` of Effect puts right. */
const isSame = (found: Fs.BigIntStats, { dev, ino }: Opened): boolean =>
  ino === 0n || (BigInt.asUintN(64, found.ino) === ino && BigInt.asUintN(64, found.dev) === dev)

/** What became of the rights of a file: those of the one that it replaces, without a list; or another file is at its path. */
export type Given = "same" | "withoutList" | "exchanged"

/**
 * Gives the file that was opened under a path the owner, the group and then the rights of the one that it will replace, and waits for
 * the disk: on a descriptor, since the path may lead to another file meanwhile. Without the group of the old file others keep what
 * the group had too, because it is now among them. With an access list (ACL) the bits of the group are the most that the list
 * gives to anybody, so the group keeps what all have.
 */
export const giveRights = (path: string, opened: Opened, replaced: string): Given => {
  if (!isStill(path, opened)) return "exchanged"
  const old = find(replaced)
  if (old?.isFile() !== true) return "same"
  const descriptor = Fs.openSync(path, Fs.constants.O_RDWR | (Fs.constants.O_NOFOLLOW ?? 0))
  try {
    if (!isSame(Fs.fstatSync(descriptor, { bigint: true }), opened)) return "exchanged"
    const now = Fs.fstatSync(descriptor)
    const isGroupKept = (now.uid === old.uid && now.gid === old.gid) || isGiven(descriptor, old.uid, old.gid) ||
      isGiven(descriptor, now.uid, old.gid)
    const others = old.mode & (old.mode >> 3) & 0o007
    const isListed = (old.mode & 0o070) !== others << 3 && hasList(replaced, path)
    const mode = !isGroupKept
      ? (old.mode & 0o700) | others
      : isListed
      ? (old.mode & 0o707) | (others << 3)
      : old.mode & 0o777
    // A new owner of the file may have changed its mode already.
    if ((Fs.fstatSync(descriptor).mode & 0o777) !== mode) Fs.fchmodSync(descriptor, mode)
    Fs.fsyncSync(descriptor)
    return isListed ? "withoutList" : "same"
  } finally {
    Fs.closeSync(descriptor)
  }
}

/** Whether one of the files has an access list, which may be from its folder. Node cannot see one; without `ls` there may be one. */
const hasList = (...files: ReadonlyArray<string>): boolean => {
  const { status, stdout } = spawnSync("ls", ["-ld", ...files], {
    env: { PATH: process.env["PATH"] },
    encoding: "utf8"
  })
  return status !== 0 || stdout.split("\n").some((line) => /^\S+\+ /.test(line))
}

/** Only an administrator can give a file to another owner, and a user only to a group of that user. */
const isGiven = (descriptor: number, owner: number, group: number): boolean => {
  try {
    Fs.fchownSync(descriptor, owner, group)
    return true
  } catch {
    return false
  }
}
