// What an application written with Relay asks; relay-compiler reads it, and pages.mjs uses what it makes of it.
import { graphql } from 'relay-runtime';

graphql`
  fragment documents_forward on Owner
  @refetchable(queryName: "documentsForwardPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 25 }, cursor: { type: "String" }) {
    lockers(first: $count, after: $cursor) @connection(key: "documents_forward_lockers") {
      edges {
        node {
          lockerId
        }
      }
    }
  }
`;

graphql`
  fragment documents_backward on Owner
  @refetchable(queryName: "documentsBackwardPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 25 }, cursor: { type: "String" }) {
    lockers(last: $count, before: $cursor) @connection(key: "documents_backward_lockers") {
      edges {
        node {
          lockerId
        }
      }
    }
  }
`;

graphql`
  query documentsForwardQuery($ownerId: ID!) {
    owner(ownerId: $ownerId) {
      ...documents_forward
    }
  }
`;

graphql`
  query documentsBackwardQuery($ownerId: ID!) {
    owner(ownerId: $ownerId) {
      ...documents_backward
    }
  }
`;

graphql`
  mutation documentsRenameMutation($input: RenameLockerInput!) {
    renameLocker(input: $input) {
      locker {
        alias
        version
      }
      userErrors {
        code
      }
    }
  }
`;

graphql`
  query documentsLockerQuery($lockerId: ID!) {
    locker(lockerId: $lockerId) {
      status
      version
    }
  }
`;

graphql`
  subscription documentsChangesSubscription($lockerId: ID!, $after: String) {
    lockerActivity(lockerId: $lockerId, after: $after) {
      cursor
      kind
      locker {
        status
        version
      }
    }
  }
`;
