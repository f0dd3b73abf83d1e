/** The files that flags name: what reads one reads it here, so that a rule for all of them has one place. */
import * as FileSystem from "effect/FileSystem"

/** The bytes of a file of the user, whole. */
export const readUserFile = (file: string) => FileSystem.FileSystem.use((fs) => fs.readFile(file))
