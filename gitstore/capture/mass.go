package capture

// tooManyGone tells whether more than half of more than massFiles files are
// gone: a full walk must confirm that.
func tooManyGone(old, now *node) bool {
	return old != nil && old.sum.files > massFiles && gone(old, now) > old.sum.files/2
}

// gone counts the files of old that now lacks. It visits only directories that
// have changed.
func gone(old, now *node) int {
	if old == now {
		return 0
	}
	if now == nil {
		return old.sum.files
	}
	count := 0
	for i := range old.entries {
		was := &old.entries[i]
		is := now.lookup(was.name)
		if is != nil && is.flags&flagGone != 0 {
			is = nil
		}
		switch {
		case was.kind == kindSkipped:
		case was.kind == kindDirectory:
			var dir *node
			if is != nil && is.kind == kindDirectory {
				dir = is.dir
			}
			count += gone(was.dir, dir)
		case is == nil || is.kind == kindSkipped || is.kind == kindDirectory:
			count++
		}
	}
	return count
}
