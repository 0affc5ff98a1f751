"""The verbs that docstrings of functions begin with; a new one is added here.

Plurals of nouns that are also verbs, such as "Keys" and "Labels", are left out.
"""

_VERBS = """
    Accepts Acquires Acts Adds Advances Aligns Allocates Allows Alternates Announces Answers Appends
    Applies Asks Assigns Attaches Averages Batches Begins Binds Blocks Broadcasts Buffers Builds
    Caches Calls Cancels Captures Casts Changes Checks Chooses Cleans Clears Clips Clones Closes
    Collects Combines Commits Compares Compiles Completes Composes Compresses Computes Concatenates
    Configures Confirms Connects Constructs Consumes Continues Converts Convolves Copies Corrects
    Counts Creates Cuts Decays Decides Declares Decodes Decorates Defines Delays Deletes Derives
    Describes Detaches Detects Determines Disables Discards Dispatches Displays Divides Does
    Downloads Draws Drops Edits Embeds Emits Enables Encodes Ends Enforces Ensures Enters Escapes
    Estimates Evaluates Examines Exchanges Excludes Executes Exits Expands Explains Exports Extends
    Extracts Feeds Fetches Fills Filters Finds Finishes Fits Flattens Flushes Follows Forgets Forks
    Formats Forwards Frees Freezes Gathers Generates Gets Gives Groups Grows Handles Hashes Hides
    Holds Identifies Ignores Imports Increments Infers Initializes Inserts Inspects Installs
    Interpolates Interrupts Invokes Issues Joins Keeps Kills Launches Learns Leaves Lets Limits
    Listens Lists Loads Locates Locks Logs Looks Makes Maps Marks Matches Measures Merges Minimizes
    Moves Multiplies Names Normalizes Notes Notifies Numbers Observes Opens Overrides Overwrites
    Packs Pads Pairs Parses Passes Patches Pauses Performs Picks Places Plots Polls Pops Postpones
    Predicts Prefetches Preloads Prepares Prints Produces Propagates Protects Provides Prunes
    Publishes Pulls Pushes Puts Quotes Raises Reads Rebuilds Receives Records Recovers Redirects
    Reduces Refreshes Refuses Registers Releases Reloads Removes Renames Renders Reorders Repeats
    Replaces Reports Requests Requeues Reserves Resets Reshapes Resizes Resolves Restores Resumes
    Retries Returns Reuses Reverses Rewinds Rewrites Rotates Rounds Runs Samples Saves Scales
    Schedules Searches Seeds Selects Sends Separates Serializes Serves Sets Shortens Shows Shuffles
    Shuts Silences Skips Sleeps Slices Sorts Spawns Splits Squeezes Stacks Starts Stops Stores
    Strips Submits Subtracts Sums Suppresses Swaps Switches Synchronizes Takes Tells Traces Tracks
    Trains Transforms Translates Transposes Tries Truncates Turns Undoes Unlocks Unpacks Unwraps
    Updates Uses Validates Verifies Visits Votes Waits Walks Warns Watches Wraps Writes Yields
"""
VERBS = frozenset(_VERBS.split())
