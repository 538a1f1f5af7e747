package fork

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// withoutLaterLogs leaves out, of what comes along, the logs of a SQLite database that the
// snapshot has otherwise than the live workspace: SQLite would put a log of now into the
// database of then, and damage it.
func withoutLaterLogs(k *maker, s *scanner, judged judge) judge {
	others := map[string]bool{} // by database: its logs ask for the same
	return func(path string, mode gitstore.Mode, size int64) (verdict, error) {
		v, err := judged(path, mode, size)
		name, end := databases.Of(path)
		if err != nil || v != take || mode.IsDir() || end == "" || !k.list.holdsFile(name) {
			return v, err
		}
		is, known := others[name]
		if !known {
			if is, err = isOtherDatabase(k, name); err != nil {
				return v, err
			}
			others[name] = is
		}
		if !is {
			return v, nil
		}
		if end != databases.Index && size > 0 {
			s.leave(path, reasonLaterLog)
		}
		return shun, nil
	}
}

// isOtherDatabase tells whether a file of the snapshot is a database, and not as it is live.
func isOtherDatabase(k *maker, path string) (bool, error) {
	then, err := k.src.Store.Lookup(k.src.Tree, path)
	if err != nil {
		return false, err
	}
	if is, err := restore.IsDatabase(k.src.Store, then.ID); !is || err != nil {
		return false, err
	}
	file, st, err := k.live.Open(path)
	if err != nil {
		return true, nil // whoever has it now, it is not shown to be that one
	}
	defer file.Close()
	now, err := gitstore.HashBlob(file, st.Size)
	return err != nil || now != then.ID, nil
}
