CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_project` ON `api_keys` (`project_id`);--> statement-breakpoint
CREATE TABLE `authorizations` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`status` text NOT NULL,
	`share_key` text,
	`steps` text NOT NULL,
	`step` integer NOT NULL,
	`requester` text,
	`account` text,
	`next_uri` text,
	`state_hash` text,
	`browser_hash` text,
	`secrets` text,
	`started_at` integer,
	`flow_hash` text,
	`response` text,
	`deadline` integer,
	`reason` text,
	`message` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `authorizations_share_key_unique` ON `authorizations` (`share_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `authorizations_state_hash_unique` ON `authorizations` (`state_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `authorizations_flow_hash_unique` ON `authorizations` (`flow_hash`);--> statement-breakpoint
CREATE INDEX `authorizations_expiry` ON `authorizations` (`expires_at`);--> statement-breakpoint
CREATE TABLE `connections` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`provider_uid` text NOT NULL,
	`user_id` text NOT NULL,
	`account_id` text NOT NULL,
	`account_name` text NOT NULL,
	`scopes` text NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`token_type` text NOT NULL,
	`received_at` integer NOT NULL,
	`expires_at` integer,
	`access` text NOT NULL,
	`refresh` text,
	`provider_identity` text NOT NULL,
	`is_default` integer NOT NULL,
	`generation` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`refresh_intent` integer,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`provider_uid`) REFERENCES `providers`(`uid`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connections_account` ON `connections` (`project_id`,`provider_uid`,`user_id`,`account_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `connections_default` ON `connections` (`project_id`,`provider_uid`,`user_id`) WHERE is_default = 1;--> statement-breakpoint
CREATE INDEX `connections_user` ON `connections` (`project_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_name_unique` ON `projects` (`name`);--> statement-breakpoint
CREATE TABLE `providers` (
	`uid` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`well_known_id` text,
	`description` text,
	`external_id` text,
	`status` text NOT NULL,
	`source` text NOT NULL,
	`provider` text NOT NULL,
	`client_id` text,
	`client_secret` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `providers_id` ON `providers` (`project_id`,`id`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`key` text NOT NULL,
	`description` text,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_accessed_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_key` ON `secrets` (`project_id`,lower(key));--> statement-breakpoint
CREATE TABLE `tool_aliases` (
	`project_id` text NOT NULL,
	`alias` text NOT NULL,
	`tool_uid` text NOT NULL,
	PRIMARY KEY(`project_id`, `alias`, `tool_uid`),
	FOREIGN KEY (`tool_uid`) REFERENCES `tools`(`uid`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tool_aliases_tool` ON `tool_aliases` (`tool_uid`);--> statement-breakpoint
CREATE TABLE `tools` (
	`uid` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`namespace` text NOT NULL,
	`name` text NOT NULL,
	`version` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`input_schema` text NOT NULL,
	`output_schema` text,
	`requirements` text NOT NULL,
	`source` text NOT NULL,
	`worker_uid` text,
	`binding` text,
	`digest` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tools_identity` ON `tools` (`project_id`,`namespace`,`name`,`version`);--> statement-breakpoint
CREATE INDEX `tools_worker` ON `tools` (`worker_uid`);--> statement-breakpoint
CREATE TABLE `workers` (
	`uid` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`enabled` integer NOT NULL,
	`uri` text NOT NULL,
	`secret` text NOT NULL,
	`timeout_seconds` integer NOT NULL,
	`retry` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`synced_at` integer,
	`sync_error` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workers_id` ON `workers` (`project_id`,`id`);