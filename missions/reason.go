package missions

// reasons say in words why a path was left alone. What is not listed is a sentence
// already.
var reasons = map[string]string{
	"ignored":     "ignored by the rules of one side",
	"appeared":    "in the way, and in no snapshot",
	"occupied":    "a directory that holds files that stay",
	"blocked":     "a file that stays is in the way",
	"revealed":    "ignored now, and no more with the ignore files of then: it stays, and stays out of snapshots",
	"withheld":    "ignored until a restore took the rule away",
	"changed":     "changed since",
	"hostile":     "a name that is never written",
	"collision":   "the snapshot holds it twice",
	"name":        "the file system does not take the name",
	"gitlink":     "another repository",
	"directory":   "a directory has taken its place",
	"workspace":   "the workspace of another mission, which it would lose; what was in it is gone",
	"moved":       "a directory above it is gone",
	"database":    "another file of this database stays",
	"size":        "over the size cap",
	"forbidden":   "it, or its directory, belongs to another user",
	"immutable":   "it, or its directory, is immutable: chattr -i lifts that",
	"append-only": "it, or its directory, is append-only: chattr -a lifts that",
	"read-only":   "on something that is mounted read-only",
	"mount":       "something is mounted there",
	"unreadable":  "could not be read",
	"special":     "a device, FIFO or socket",
	"secret":      "its name says that it holds credentials",
	"worktree":    "another worktree of the repository",
	"reserved":    "a name that stands for .git somewhere, or a directory that Git or Umbra uses",
	"history":     "the commits of a version system",
	"budget":      "over the workspace's budget",
}

// Words are why the path was left alone, for the user.
func (p PathReason) Words() string {
	if text, ok := reasons[p.Reason]; ok {
		return text
	}
	return p.Reason
}
