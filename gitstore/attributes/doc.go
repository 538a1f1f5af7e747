// Package attributes owns what a file or directory has beside its name and content:
// owner, mode, ACL, capabilities and other extended attributes, time, holes, how many
// names. It reads them from what is about to be taken away, and gives them to what is
// put there again.
//
// Rights never widen: a file gets at most the rights that were kept. Where its owner,
// group or ACL can't be given to it, the rights that depended on these are left out.
//
// It must not know plans, snapshots or the store, and opens nothing itself.
package attributes
