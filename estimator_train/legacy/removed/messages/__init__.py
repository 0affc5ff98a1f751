"""Old behaviour of protobuf: values that it took, its services, names of its modules."""
