CREATE TABLE `shared_connections` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`provider_uid` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text,
	`shared_with` text NOT NULL,
	`mac` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`provider_uid`) REFERENCES `providers`(`uid`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shared_connections_name` ON `shared_connections` (`project_id`,`provider_uid`,`name`);--> statement-breakpoint
CREATE INDEX `shared_connections_of_project` ON `shared_connections` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `shared_connections_of_provider` ON `shared_connections` (`provider_uid`);