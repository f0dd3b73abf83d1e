/** START HERE. Whose a file is: whether what stands at a path may be from another user, who could read or forge what is in it. */
import * as Fs from "node:fs"
import { basename, dirname } from "node:path"

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

/** What SQLite keeps beside a database, and believes from any user. */
const suffixes = ["-wal", "-journal", "-shm"]

const find = (path: string) => Fs.lstatSync(path, { throwIfNoEntry: false })

/**
 * Throws a `ForeignFile` unless each file beside a database is a regular one, without a second name, of who owns the database, of
 * root or of who runs. The users who may write the database may own them too, if no other user can create files in its folder.
 * `held`: which of them the database has open, so that they must be there.
 */
export const checkCompanions = (filename: string, held: ReadonlyArray<string> = []): void => {
  const file = Fs.realpathSync(filename)
  for (const suffix of suffixes) {
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
        settled(file, found.uid)
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
  const database = Fs.statSync(file)
  if (owner === database.uid || owner === 0 || owner === process.geteuid?.()) return true
  const groupMay = (database.mode & 0o020) !== 0 && (Fs.statSync(dirname(file)).mode & 0o002) === 0
  return groupMay || (database.mode & 0o002) !== 0 || owner === ownerOfNew(file)
}

/** Who runs, as the file system says it: a server may map users, and no process can see how. `undefined` if it may not write there. */
const ownerOfNew = (file: string): number | undefined => {
  const probe = `${file}.${globalThis.crypto.randomUUID()}.tmp`
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

const seek =
  "SQLite does not do that. Find out who did, and keep the database in a folder that only its owner may write."

const unlinked = (path: string): string => {
  const name = basename(path)
  return `It may have commits: keep it. Once no process has the database open, make it a separate file: cp -p ${name} ${name}.own && mv ${name}.own ${name}`
}

const settled = (file: string, owner: number): string => {
  const foreign = suffixes.filter((suffix) => {
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
  const file = Fs.realpathSync(filename)
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
export const isStill = (path: string, { dev, ino }: Opened): boolean => {
  const found = Fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found !== undefined && found.isFile() && (ino === 0n || (found.ino === ino && found.dev === dev))
}

/**
 * Gives the file that was opened under a path the owner, the group and then the rights of the one that it will replace, and waits for
 * the disk: on a descriptor, since the path may lead to another file meanwhile. `false` if it does. Without the group of the
 * old file others keep what the group had too, because it is now among them.
 */
export const giveRights = (path: string, opened: Opened, replaced: string): boolean => {
  if (!isStill(path, opened)) return false
  const old = find(replaced)
  if (old?.isFile() !== true) return true
  const descriptor = Fs.openSync(path, Fs.constants.O_RDWR | (Fs.constants.O_NOFOLLOW ?? 0))
  try {
    const same = Fs.fstatSync(descriptor, { bigint: true })
    if (opened.ino !== 0n && (same.ino !== opened.ino || same.dev !== opened.dev)) return false
    const now = Fs.fstatSync(descriptor)
    const isGroupKept = (now.uid === old.uid && now.gid === old.gid) || isGiven(descriptor, old.uid, old.gid) ||
      isGiven(descriptor, now.uid, old.gid)
    const mode = isGroupKept ? old.mode & 0o777 : (old.mode & 0o700) | (old.mode & (old.mode >> 3) & 0o007)
    // A new owner of the file may have changed its mode already.
    if ((Fs.fstatSync(descriptor).mode & 0o777) !== mode) Fs.fchmodSync(descriptor, mode)
    Fs.fsyncSync(descriptor)
    return true
  } finally {
    Fs.closeSync(descriptor)
  }
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
